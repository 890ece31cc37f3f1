import { made, rowMaker } from './timeline-row.js'

const PAGE_ROWS = 2000
/** Rendered rows beyond both edges of the screen. */
const MARGIN_ROWS = 20
/** Column of a row that tells of equal siblings. */
const EQUAL = 14

/** Rows of one run by range. */
let loaded = { path: '', ranges: new Map() }

/** Keeps integers beyond double precision exact. */
const exact = (_key, value, { source }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) ? BigInt(source) : value

/** Loads all rows of a run, or of a range of it, as lists of values. */
const load = async (path, { rows: length, zoomed, from, to }) => {
  const count = Number(length)
  const range = zoomed === undefined ? '' : `&from=${from}&to=${to}`
  if (loaded.path !== path) loaded = { path, ranges: new Map() }
  const { ranges } = loaded
  if (ranges.get(range)?.length === count) return ranges.get(range)
  const api = path.replace('/replay/', '/api/v1/runs/')
  const pages = Array.from({ length: Math.ceil(count / PAGE_ROWS) }, async (_, page) => {
    const answer = await fetch(`${api}/rows?after=${page * PAGE_ROWS}&limit=${PAGE_ROWS}${range}`)
    return JSON.parse(await answer.text(), exact).rows
  })
  const rows = (await Promise.all(pages)).flat()
  ranges.set(range, rows)
  return rows
}

/** Closed rows of an address, unfolded groups, and the parameters that toggle one. */
const foldsIn = ({ searchParams }, isFinding) => {
  const folded = searchParams.has('open')
  const name = folded ? 'open' : 'closed'
  const idsIn = (key) => new Set((searchParams.get(key) ?? '').split(',').filter((id) => id !== '' && id !== '-'))
  const [named, unfolded] = [idsIn(name), idsIn('unfolded')]
  const turn = (ids, id) => {
    const next = new Set(ids)
    if (!next.delete(id)) next.add(id)
    return [...next].join(',')
  }
  return {
    isClosed: (id, depth) => (folded ? depth > 0 && !named.has(id) : named.has(id)),
    isUnfolded: (id) => isFinding || unfolded.has(id),
    turned: (id) => ({ [name]: turn(named, id) || '-' }),
    grouped: (id) => ({ unfolded: turn(unfolded, id) }),
  }
}

/** Indexes of the ancestors of a row. They are open in any case. */
const pathTo = (rows, at) => {
  const path = new Set()
  for (let depth = rows[at]?.[1]; at >= 0; at--) {
    if (rows[at][1] >= depth) continue
    path.add(at)
    depth = rows[at][1]
  }
  return path
}

/** Rows of the group that begins at a place: end of the first, end of all; undefined if it is not folded. */
const groupAt = (rows, place, { isUnfolded }, chosen) => {
  const [, own, all] = rows[place][EQUAL] ?? []
  if (!all || isUnfolded(rows[place][0]) || (chosen >= place + own && chosen < place + all)) return
  return [place + own, place + all]
}

/** Indexes of rows without a closed ancestor, and of those that stand for a folded group; the chosen row is among them. */
const seenIn = (rows, folds, chosen) => {
  const [seen, groups, jumps] = [[], new Set(), new Map()]
  const path = pathTo(rows, chosen)
  let hidden = Number.POSITIVE_INFINITY
  for (let place = 0; place < rows.length; place++) {
    while (jumps.has(place)) place = jumps.get(place)
    const [id, depth] = rows[place] ?? ['', hidden + 1]
    if (!id || depth > hidden) continue
    hidden = folds.isClosed(id, depth) && !path.has(place) ? depth : Number.POSITIVE_INFINITY
    seen.push(place)
    const group = groupAt(rows, place, folds, chosen)
    if (!group) continue
    const [after, end] = group
    jumps.set(after, end)
    groups.add(place)
  }
  return { seen, groups }
}

const spacer = () => made('td', { class: 'spacer' })

/** Virtual list of the rows of a long run. `reveal` renders a row and returns it. */
export const longTimeline = async (table, url) => {
  const rows = await load(url.pathname, table.dataset)
  const folds = foldsIn(url, table.dataset.finding !== undefined)
  const chosen = rows.findIndex(([id]) => `span-${id}` === table.dataset.selected)
  const { seen, groups } = seenIn(rows, folds, chosen)
  const make = rowMaker(table, url, rows, folds, groups)
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
