import { made, rowMaker } from './timeline-row.js'

const PAGE_ROWS = 2000
/** Rendered rows beyond both edges of the screen. */
const MARGIN_ROWS = 20

let loaded = { path: '', rows: [] }

/** Keeps integers beyond double precision exact. */
const exact = (_key, value, { source }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) ? BigInt(source) : value

/** Loads all rows of a run as lists of values. */
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

/** Closed rows of an address, and the parameter that toggles one. */
const foldsIn = ({ searchParams }) => {
  const folded = searchParams.has('open')
  const name = folded ? 'open' : 'closed'
  const named = new Set((searchParams.get(name) ?? '').split(',').filter((id) => id !== '' && id !== '-'))
  return {
    isClosed: (id, depth) => (folded ? depth > 0 && !named.has(id) : named.has(id)),
    turned: (id) => {
      const next = new Set(named)
      if (!next.delete(id)) next.add(id)
      return { [name]: [...next].join(',') || '-' }
    },
  }
}

/** Indexes of the ancestors of a row. They are open in any case. */
const pathTo = (rows, rowId) => {
  const path = new Set()
  let at = rows.findIndex(([id]) => `span-${id}` === rowId)
  for (let depth = rows[at]?.[1]; at >= 0; at--) {
    if (rows[at][1] >= depth) continue
    path.add(at)
    depth = rows[at][1]
  }
  return path
}

/** Indexes of rows without a closed ancestor. */
const seenIn = (rows, { isClosed }, path) => {
  const seen = []
  let hidden = Number.POSITIVE_INFINITY
  for (const [place, [id, depth]] of rows.entries()) {
    if (depth > hidden) continue
    hidden = isClosed(id, depth) && !path.has(place) ? depth : Number.POSITIVE_INFINITY
    seen.push(place)
  }
  return seen
}

const spacer = () => made('td', { class: 'spacer' })

/** Virtual list of the rows of a long run. `reveal` renders a row and returns it. */
export const longTimeline = async (table, url) => {
  const rows = await load(url.pathname, Number(table.dataset.rows))
  const folds = foldsIn(url)
  const make = rowMaker(table, url, rows, folds)
  const seen = seenIn(rows, folds, pathTo(rows, table.dataset.selected))
  const body = table.tBodies[0]
  const spaces = [spacer(), spacer()]
  const [above, below] = spaces.map((space) => made('tr', {}, space))
  body.replaceChildren(above, make(seen[0]), below)
  const height = body.rows[1].getBoundingClientRect().height
  let range = ''
  const draw = () => {
    const top = -body.getBoundingClientRect().top
    const start = Math.max(0, Math.min(seen.length - 1, Math.floor(top / height)) - MARGIN_ROWS)
    const end = Math.min(seen.length, start + Math.ceil(innerHeight / height) + 2 * MARGIN_ROWS)
    if (range === `${start} ${end}`) return
    range = `${start} ${end}`
    const at = body.querySelector('.at')?.id
    spaces[0].style.height = `${start * height}px`
    spaces[1].style.height = `${(seen.length - end) * height}px`
    body.replaceChildren(above, ...seen.slice(start, end).map(make), below)
    if (at) document.getElementById(at)?.classList.add('at')
  }
  const scrolled = () => (table.isConnected ? draw() : removeEventListener('scroll', scrolled))
  document.getElementById('pages')?.remove()
  document.querySelector('.long')?.remove()
  addEventListener('scroll', scrolled, { passive: true })
  draw()
  return {
    reveal: (rowId) => {
      const index = seen.findIndex((place) => `span-${rows[place][0]}` === rowId)
      if (index < 0) return
      scrollBy(0, body.getBoundingClientRect().top + index * height - innerHeight / 2)
      draw()
      return document.getElementById(rowId) ?? undefined
    },
  }
}
