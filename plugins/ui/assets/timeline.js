import { goTo, isFree } from './keys.js'
import { longTimeline } from './long-timeline.js'
import { made } from './timeline-row.js'

const isPlain = (event) => !event.shiftKey && isFree(event)

/** The address without the selected span. Equal results mean equal rows. */
const rowsOf = (url) => {
  const query = new URLSearchParams(url.search)
  for (const name of ['span', 'notice', 'after']) query.delete(name)
  query.sort()
  return `${url.pathname}?${query}`
}

const rowOf = ({ searchParams: query }) => query.has('span') && `span-${query.get('span')}`

let current = new URL(location.href)
let long
let going

/** Fetches a page without the parts that are already loaded. */
const fetched = async (url, part, signal) => {
  const target = new URL(url)
  if (part) target.searchParams.set('part', part)
  const answer = await fetch(target, { headers: { accept: 'text/html' }, signal })
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
  return new DOMParser().parseFromString(await answer.text(), 'text/html')
}

const swap = (next, selector) => {
  const [from, to] = [document.querySelector(selector), next.querySelector(selector)]
  if (from && to) from.replaceWith(document.adoptNode(to))
}

const choose = (row) => {
  row.closest('table').dataset.selected = row.id
  const old = document.querySelector('#timeline .chosen')
  old?.classList.remove('chosen')
  old?.querySelector('.pick')?.removeAttribute('aria-current')
  row.classList.add('chosen')
  row.querySelector('.pick')?.setAttribute('aria-current', 'true')
  row.scrollIntoView({ block: 'nearest' })
}

/** The row of a span, scrolled into view; undefined if it has none. */
const revealed = (id) => id && (document.getElementById(id) ?? long?.reveal(id))

/** The selected row. */
const chosen = () => document.getElementById('timeline')?.dataset.selected

/** Selects the row of an address. The current row stays unless another is selected. */
const place = (url, at, was) => {
  const finds = url.searchParams.has('find')
  const row = revealed(rowOf(url) || (finds && chosen()))
  if (row) choose(row)
  goTo(row && (finds || row.id !== was) ? row : document.getElementById(at))
}

/** Shows an address; fetches only the difference. */
const show = async (url) => {
  going?.abort()
  going = new AbortController()
  const [at, was] = [document.querySelector('[data-row].at')?.id, chosen()]
  const same = rowsOf(url) === rowsOf(current) && revealed(rowOf(url))
  const part = same ? 'details' : url.searchParams.has('all') ? 'frame' : undefined
  const next = await fetched(url, part, going.signal)
  current = url
  for (const name of ['.head', '#why', '.tabs', '#tools', same ? '#details' : '.panes']) swap(next, name)
  if (!same) await begin()
  place(url, at, was)
}

const go = (href) => {
  const url = new URL(href, location.href)
  history.pushState(null, '', url)
  show(url).catch((error) => {
    if (error.name !== 'AbortError') location.assign(url)
  })
}

/** Initialises the scripts of the current table. */
const begin = async () => {
  long = undefined
  const link = document.getElementById('load-all')
  if (!link) return
  if (!current.searchParams.has('all')) link.hidden = false
  else {
    long = await longTimeline(document.getElementById('timeline'), current)
    if (current.searchParams.has('span')) revealed(chosen())
  }
}

/** Dragging over the overview zooms to the range. */
const drag = (event) => {
  const map = event.target.closest?.('#overview')
  if (!map || event.button !== 0) return
  event.preventDefault()
  const box = map.getBoundingClientRect()
  const share = ({ clientX }) => Math.min(1, Math.max(0, (clientX - box.left) / box.width))
  const began = share(event)
  const frame = made('rect', { class: 'frame', height: '100%' })
  map.append(frame)
  map.setPointerCapture(event.pointerId)
  const ends = (other) => [began, other].sort((one, two) => one - two)
  map.onpointermove = (moved) => {
    const [from, to] = ends(share(moved))
    frame.setAttribute('x', `${from * 100}%`)
    frame.setAttribute('width', `${(to - from) * 100}%`)
  }
  map.onpointerup = (ended) => {
    map.onpointermove = null
    frame.remove()
    const [from, to] = ends(share(ended))
    if ((to - from) * box.width < 4) return
    const query = new URLSearchParams(location.search)
    query.set('from', String(Math.floor(from * map.dataset.length)))
    query.set('to', String(Math.ceil(to * map.dataset.length)))
    query.delete('after')
    go(`?${query}`)
  }
}

const click = (event) => {
  const link = event.target.closest?.('.pick, .fold, .equal, .step, #tools a, #load-all')
  if (!link || event.button !== 0 || event.defaultPrevented || !isPlain(event)) return
  event.preventDefault()
  go(link.href)
}

/** Arrow keys close and open the current row. */
const arrow = (event) => {
  const expanded = { ArrowLeft: 'true', ArrowRight: 'false' }[event.key]
  if (!expanded || !isPlain(event)) return
  const row = document.querySelector('#timeline .at') ?? document.querySelector('#timeline .chosen')
  const fold = row?.querySelector(`.fold[aria-expanded="${expanded}"]`)
  if (!fold) return
  event.preventDefault()
  fold.click()
}

/** Makes selection, folding, search and zoom work without a page load. */
export const timeline = () => {
  document.addEventListener('click', click)
  document.addEventListener('pointerdown', drag)
  document.addEventListener('keydown', arrow)
  document.addEventListener('submit', (event) => {
    if (!event.target.matches('#tools .find')) return
    event.preventDefault()
    const fields = new FormData(/** @type {HTMLFormElement} */ (event.target))
    go(`?${new URLSearchParams(/** @type {any} */ (fields))}`)
  })
  addEventListener('popstate', () => {
    if (location.search !== current.search) show(new URL(location.href)).catch(() => location.reload())
  })
  begin()
}
