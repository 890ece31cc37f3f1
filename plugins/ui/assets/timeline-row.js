const SVG = 'http://www.w3.org/2000/svg'

/** Text in which nothing is hidden, as the server shows it. */
const visible = (text) =>
  text.replace(
    /[[\p{DI}\p{Cc}\p{Cs}\p{Zl}\p{Zp}]--[\t\n\u200c\u200d\ufe0e\ufe0f]]/gv,
    (mark) => `U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )

const twoDigits = (part) => String(part).padStart(2, '0')

/** A length of time as people read it. */
const took = (ns) => {
  if (ns === null) return '…'
  const value = Number(ns)
  if (value < 1e3) return `${value} ns`
  if (value < 1e6) return `${Number((value / 1e3).toPrecision(3))} µs`
  if (value < 1e9) return `${Number((value / 1e6).toPrecision(3))} ms`
  if (value < 6e10) return `${(value / 1e9).toFixed(1)} s`
  const seconds = Math.round(value / 1e9)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`
}

/** An element with its class and what stands in it. */
const made = (name, className, ...content) => {
  const element = document.createElement(name)
  if (className !== '') element.className = className
  element.append(...content)
  return element
}

const drawn = (name, attributes) => {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  return element
}

/** Places named in an attribute; undefined where there is none. */
const placesIn = (text) => (text === undefined ? undefined : new Set(text.split(',').map(Number)))

const link = (className, url, changes, ...content) => {
  const query = new URLSearchParams(url.search)
  for (const [name, value] of Object.entries(changes)) query.set(name, value)
  const element = made('a', className, ...content)
  element.href = `?${query}`
  return element
}

/** Makes rows as the server does, from lists of values; `folds` says which are closed. */
export const rowMaker = (table, url, rows, folds) => {
  const { origin, from, to, critical, matches } = table.dataset
  const [zero, first, width] = [BigInt(origin), Number(from), Number(to) - Number(from)]
  const [onPath, found] = [placesIn(critical), placesIn(matches)]
  const percent = (ns) => (100 * (Number(BigInt(ns) - zero) - first)) / width

  const lane = (start, duration, status) => {
    const [left, right] = [percent(start), duration === null ? 100 : percent(BigInt(start) + BigInt(duration))]
    const words = `starts at ${took(BigInt(start) - zero)}, lasts ${took(duration)}, ${status}`
    const svg = drawn('svg', { class: 'lane', height: 14, role: 'img', 'aria-label': words })
    if (right < 0 || left > 100) return svg
    const x = Math.max(0, left)
    const share = Math.max(0.01, Math.min(100, right) - x)
    svg.append(drawn('rect', { x: `${x.toFixed(2)}%`, width: `${share.toFixed(2)}%`, height: 14 }))
    return svg
  }

  const fold = (place, id, depth) => {
    if ((rows[place + 1]?.[1] ?? 0) <= depth) return ''
    const closed = folds.isClosed(id, depth)
    const element = link('fold', url, { ...folds.turned(id), span: id }, closed ? '▸' : '▾')
    element.ariaExpanded = String(!closed)
    element.ariaLabel = closed ? 'Expand' : 'Collapse'
    return element
  }

  return (place) => {
    const [id, depth, name, occurrence, about, kind, status, start, duration] = rows[place]
    const shown = visible(name)
    const number = depth === 0 ? '' : `#${occurrence}`
    const label = visible(about ?? '')
    const level = depth > 12 ? `${depth} ` : ''
    const pick = link('pick', url, { span: id }, level, made('bdi', '', shown), `${number} `, made('i', '', label))
    pick.title = `${kind}: ${shown}${number} ${label}`
    const head = made('th', `d${Math.min(12, depth)}`, pick, fold(place, id, depth))
    head.scope = 'row'
    const row = made(
      'tr',
      kind,
      head,
      made('td', '', lane(start, duration, status)),
      made('td', 'figure', took(duration)),
      made('td', status === 'error' ? 'error' : '', status === 'ok' ? '' : status),
    )
    row.id = `span-${id}`
    row.dataset.row = ''
    row.classList.toggle('critical', onPath?.has(place) === true)
    row.classList.toggle('dim', found?.has(place) === false)
    row.classList.toggle('chosen', row.id === table.dataset.selected)
    return row
  }
}
