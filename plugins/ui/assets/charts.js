/** Movement in pixels from which a press is a drag. */
const DRAG_PX = 5

const root = document.documentElement

const drawingOf = ({ target }) => target.closest?.('.charts svg')

/** The bar of a drawing at a point, or the nearest to it. */
const barAt = (drawing, { clientX }) => {
  const charts = drawing.closest('.charts')
  const { left, width } = drawing.getBoundingClientRect()
  const bars = Number(charts.dataset.bars)
  return { charts, bar: Math.min(bars - 1, Math.max(0, Math.floor(((clientX - left) / width) * bars))) }
}

/** Marks bars in all charts. What is set on the root stays when the page is updated. */
const mark = (from, to) => {
  root.classList.add('barred')
  root.style.setProperty('--bar', String(Math.min(from, to)))
  root.style.setProperty('--bars', String(Math.abs(to - from) + 1))
}

const unmark = () => {
  root.classList.remove('barred')
  say('')
}

const say = (text) => {
  const readout = document.getElementById('readout')
  if (readout && readout.textContent !== text) readout.textContent = text
}

const startOf = ({ dataset }, bar) => new Date(Number(dataset.since) + bar * Number(dataset.step))

/** When a bar begins, in the zone in which the axis is told. */
const timeOf = (charts, bar) => {
  const { zone } = charts.dataset
  const text = startOf(charts, bar).toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'short',
    hour12: false,
    timeZone: zone,
  })
  return zone ? `${text} ${zone}` : text
}

/** The figures of a bar, as the table has them. */
const figuresOf = (charts, bar) => {
  const row = charts.parentElement.querySelector(`[data-bar="${bar}"]`)
  if (!row) return 'no requests'
  const table = row.closest('table')
  const heads = [...table.rows[0].cells].map(({ textContent }) => textContent)
  return [...row.cells]
    .slice(1)
    .map(({ textContent }, at) => `${textContent} ${heads[at + 1]}`)
    .join(' · ')
}

const tell = (charts, bar) => say(`${timeOf(charts, bar)}: ${figuresOf(charts, bar)}`)

/** The list from the beginning of one bar to the end of another. */
const listOf = (charts, from, to) => {
  const url = new URL(charts.dataset.list, location.href)
  url.searchParams.set('since', startOf(charts, Math.min(from, to)).toISOString())
  url.searchParams.set('until', startOf(charts, Math.max(from, to) + 1).toISOString())
  return url
}

let isListening = false
/** Where the pointer was pressed: drawing, bar and x. */
let press
let hasDragged = false

const down = (event) => {
  const drawing = event.isPrimary && event.button === 0 && drawingOf(event)
  press = drawing ? { drawing, x: event.clientX, from: barAt(drawing, event).bar } : undefined
  hasDragged = false
}

const move = (event) => {
  if (press?.drawing.isConnected === false) cancel()
  if (press && Math.abs(event.clientX - press.x) >= DRAG_PX) hasDragged = true
  const isDrag = press && hasDragged
  const drawing = isDrag ? press.drawing : drawingOf(event)
  if (!drawing) return unmark()
  const { charts, bar } = barAt(drawing, event)
  const from = isDrag ? press.from : bar
  mark(from, bar)
  if (isDrag) say(`${timeOf(charts, Math.min(from, bar))} to ${timeOf(charts, Math.max(from, bar) + 1)}`)
  else tell(charts, bar)
}

const up = (event) => {
  const dragged = hasDragged ? press : undefined
  press = undefined
  if (!dragged?.drawing.isConnected) return
  const { charts, bar } = barAt(dragged.drawing, event)
  location.assign(listOf(charts, dragged.from, bar))
}

const cancel = () => {
  press = undefined
  hasDragged = false
  unmark()
}

/** Shows the figures below the pointer, and lets a drag choose the time of the list. */
export const charts = () => {
  if (isListening) return
  isListening = true
  document.addEventListener('pointerdown', down)
  document.addEventListener('pointermove', move)
  document.addEventListener('pointerup', up)
  document.addEventListener('pointercancel', cancel)
  document.addEventListener('dragstart', (event) => {
    if (drawingOf(event)) event.preventDefault()
  })
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') cancel()
  })
  // a drag that ends on the link of a bar does not follow it
  document.addEventListener(
    'click',
    (event) => {
      if (hasDragged && drawingOf(event)) event.preventDefault()
      hasDragged = false
    },
    true,
  )
  root.addEventListener('pointerleave', cancel)
}
