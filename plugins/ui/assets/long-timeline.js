import { made, rowMaker } from './timeline-row.js'

const PAGE_ROWS = 2000
/** Rows beyond both edges of the screen that are there already. */
const MARGIN_ROWS = 20

let loaded = { path: '', rows: [] }

/** Integers that a double cannot hold stay exact. */
const exact = (_key, value, { source }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) ? BigInt(source) : value

/** All rows of the run at a path, a list of values each. */
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

/** Which rows are closed, as an address says, and the parameter that turns one of them. */
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

/** Places of the rows above the row of this id, which are open whatever the address says. */
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

/** Places of the rows that are not hidden below closed ones. */
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

/** Fills the table with all rows of a long run, of which only those near the screen are there; `reveal` brings one there and gives it. */
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
