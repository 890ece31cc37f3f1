const PAGE_ROWS = 2000
/** Rows beyond both edges of the screen that are there already. */
const MARGIN_ROWS = 20
const SVG = 'http://www.w3.org/2000/svg'

let loaded = { path: '', rows: [] }

/** Integers that a double cannot hold stay exact. */
const exact = (_key, value, { source }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) ? BigInt(source) : value

/** All rows of the run, a list of values each. */
const load = async (path, count) => {
  if (loaded.path === path && loaded.rows.length === count) return loaded.rows
  const api = path.replace('/replay/', '/api/v1/runs/')
  const pages = Array.from({ length: Math.ceil(count / PAGE_ROWS) }, async (_, page) => {
    const answer = await fetch(`${api}/rows?after=${page * PAGE_ROWS}&limit=${PAGE_ROWS}`)
    return JSON.parse(await answer.text(), exact).rows
  })
  loaded = { path, rows: (await Promise.all(pages)).flat() }
  return loaded.rows
}

const took = (ns) => {
  if (ns === null) return '…'
  const value = Number(ns)
  if (value < 1e3) return `${value} ns`
  if (value < 1e6) return `${(value / 1e3).toPrecision(2)} µs`
  if (value < 1e9) return `${Number((value / 1e6).toPrecision(3))} ms`
  if (value < 6e10) return `${(value / 1e9).toFixed(1)} s`
  const seconds = Math.round(value / 1e9)
  const two = (part) => String(part).padStart(2, '0')
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${two(Math.round((seconds % 3600) / 60))} min`
}

const element = (name, className, text) => {
  const made = document.createElement(name)
  if (className !== '') made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

const rect = (x, width, className) => {
  const made = document.createElementNS(SVG, 'rect')
  made.setAttribute('x', x)
  made.setAttribute('width', width)
  made.setAttribute('height', '14')
  if (className !== undefined) made.setAttribute('class', className)
  return made
}

/** Places named in an attribute; undefined where it names none at all. */
const placesIn = (text) => (text === undefined ? undefined : new Set(text.split(',').filter(Boolean).map(Number)))

/** Which rows are closed, as the address says, and the address with one of them turned. */
const folding = (url) => {
  const folded = url.searchParams.has('open')
  const name = folded ? 'open' : 'closed'
  const named = new Set((url.searchParams.get(name) ?? '').split(',').filter((id) => id !== '' && id !== '-'))
  return {
    isClosed: (id, depth) => (folded ? depth > 0 && !named.has(id) : named.has(id)),
    turned: (id) => {
      const next = new Set(named)
      if (!next.delete(id)) next.add(id)
      const query = new URLSearchParams(url.search)
      query.set(name, [...next].join(',') || (folded ? '-' : ''))
      query.set('span', id)
      return `?${query}`
    },
  }
}

/** Fills the table with all rows of a long run, of which only those on the screen are there. `reveal` brings a row there and gives it. */
export const longTimeline = async (table, url) => {
  const { rows: count, origin, from, to, critical, matches } = table.dataset
  const rows = await load(url.pathname, Number(count))
  const [zero, first, width] = [BigInt(origin), Number(from), Number(to) - Number(from)]
  const onPath = placesIn(critical)
  const found = placesIn(matches)
  const chosen = url.searchParams.get('span')
  const { isClosed, turned } = folding(url)
  const seen = []
  let hidden = Number.POSITIVE_INFINITY
  for (const [place, [id, depth]] of rows.entries()) {
    if (depth > hidden) continue
    hidden = isClosed(id, depth) ? depth : Number.POSITIVE_INFINITY
    seen.push(place)
  }
  const percent = (ns) => (100 * (Number(BigInt(ns) - zero) - first)) / width
  const bar = ([, , , , , kind, , start, duration]) => {
    const svg = document.createElementNS(SVG, 'svg')
    svg.setAttribute('class', `lane ${kind}`)
    svg.setAttribute('height', '14')
    svg.setAttribute('aria-hidden', 'true')
    const [left, right] = [percent(start), duration === null ? 100 : percent(BigInt(start) + BigInt(duration))]
    if (right < 0 || left > 100) return svg
    const x = `${Math.max(0, left).toFixed(2)}%`
    svg.append(rect(x, `${(Math.min(100, right) - Math.max(0, left)).toFixed(2)}%`), rect(x, '2', 'start'))
    return svg
  }
  const made = (place) => {
    const [id, depth, name, occurrence, label, kind, status, start, duration] = rows[place]
    const row = element(
      'tr',
      [onPath?.has(place) && 'critical', found?.has(place) === false && 'dim'].filter(Boolean).join(' '),
    )
    row.id = `span-${id}`
    row.dataset.row = ''
    if (id === new URLSearchParams(location.search).get('span')) row.classList.add('chosen')
    const head = element('th', `d${Math.min(12, depth)}`)
    head.scope = 'row'
    const pick = element('a', 'pick')
    const query = new URLSearchParams(url.search)
    query.set('span', id)
    pick.href = `?${query}`
    pick.title = label === null ? name : `${name} ${label}`
    pick.append(
      element('abbr', `kind ${kind}`, kind.charAt(0).toUpperCase()),
      ` ${depth === 0 ? name : `${name}#${occurrence}`} `,
    )
    if (label !== null) pick.append(element('span', 'quiet', label))
    head.append(pick)
    if ((rows[place + 1]?.[1] ?? 0) > depth) {
      const closed = isClosed(id, depth)
      const fold = element('a', 'fold', closed ? '▸' : '▾')
      fold.href = turned(id)
      fold.setAttribute('aria-expanded', String(!closed))
      fold.setAttribute('aria-label', closed ? 'Expand' : 'Collapse')
      head.append(fold)
    }
    const track = element('td', 'track')
    track.append(
      bar(rows[place]),
      element('span', 'hidden-label', `starts at ${took(BigInt(start) - zero)}, lasts ${took(duration)}, ${status}`),
    )
    row.append(
      head,
      track,
      element('td', 'figure', took(duration)),
      element('td', status === 'ok' ? 'ok' : 'error', status === 'ok' ? '' : status),
    )
    return row
  }
  const body = table.tBodies[0]
  const [above, below] = [element('tr', ''), element('tr', '')]
  for (const spacer of [above, below]) spacer.append(element('td', 'spacer'))
  body.replaceChildren(above, made(seen[0] ?? 0), below)
  const height = body.rows[1].getBoundingClientRect().height
  let range = ''
  const draw = () => {
    const top = -body.getBoundingClientRect().top
    const start = Math.max(0, Math.min(seen.length - 1, Math.floor(top / height)) - MARGIN_ROWS)
    const end = Math.min(seen.length, start + Math.ceil(innerHeight / height) + 2 * MARGIN_ROWS)
    if (range === `${start} ${end}`) return
    range = `${start} ${end}`
    const at = body.querySelector('.at')?.id
    above.firstChild.style.height = `${start * height}px`
    below.firstChild.style.height = `${(seen.length - end) * height}px`
    body.replaceChildren(above, ...seen.slice(start, end).map(made), below)
    if (at !== undefined) document.getElementById(at)?.classList.add('at')
  }
  const reveal = (rowId) => {
    const index = seen.findIndex((place) => `span-${rows[place][0]}` === rowId)
    if (index === -1) return undefined
    scrollBy(0, body.getBoundingClientRect().top + index * height - innerHeight / 2)
    draw()
    return document.getElementById(rowId) ?? undefined
  }
  document.getElementById('pages')?.remove()
  document.querySelector('.long')?.remove()
  const scrolled = () => (table.isConnected ? draw() : removeEventListener('scroll', scrolled))
  addEventListener('scroll', scrolled, { passive: true })
  draw()
  if (chosen !== null) reveal(`span-${chosen}`)
  return { reveal }
}
