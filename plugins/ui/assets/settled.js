// This is no module, because it must run before the page is visible and can be clicked.

const SETTLES_MS = 500
const LOOK_MS = 100
/** Smaller moves do not put another control below the pointer. */
const NEAR_PX = 3

const pressable = 'main :is(button, [type="checkbox"])'

/** For each control: its last position and action, and the times of their last changes. */
const known = new WeakMap()

const isNear = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]) < NEAR_PX

const look = (control, now, since = now) => {
  const { form, name, value, textContent, attributes } = control
  const { left, top, width } = control.getBoundingClientRect()
  const seen = width ? [left, top] : [-1, -1]
  const placed = width ? [left + scrollX, top + scrollY] : [-1, -1]
  const what = [form?.action, attributes.formaction?.value, name, value, textContent].join()
  const was = known.get(control)
  const isSame = was?.what === what
  // scrolling changes one of both; for sticky elements, the other
  const isStill = isSame && (isNear(was.seen, seen) || isNear(was.placed, placed))
  const is = { seen, placed, what, moved: isStill ? was.moved : now, changed: isSame ? was.changed : since }
  known.set(control, is)
  return is
}

/** Records the positions of all controls. A control that moved, appeared or changed its action is unsettled. `since`: time of an action change for keyboard use. */
const lookAround = (since) => {
  const now = performance.now()
  for (const control of document.querySelectorAll(pressable)) {
    const state = now - look(control, now, since).moved < SETTLES_MS ? 'true' : null
    if (control.ariaDisabled !== state) control.ariaDisabled = state
  }
}

let focused = 0
let isTooSoon = false

const isNew = (control, isKey) => {
  const now = performance.now()
  const { moved, changed } = look(control, now)
  const near = control.closest('[data-row]') ?? control.form ?? control
  const isChosen = isKey && focused > changed && near.contains(document.activeElement)
  return !isChosen && now - (isKey ? changed : moved) < SETTLES_MS
}

const controlOf = ({ target }) => {
  const found = target.closest?.('label, button, input')
  const control = found?.control ?? found
  return control?.matches(pressable) && control
}

const down = (event) => {
  const control = controlOf(event)
  isTooSoon = control && isNew(control, false)
}

/** A control that moved or appeared ignores clicks for half a second. It ignores keys if its action changed since it got the focus. */
const click = (event) => {
  const control = controlOf(event)
  const isKey = event.detail === 0
  if (!control || !(isNew(control, isKey) || (isTooSoon && !isKey))) return
  event.preventDefault()
  event.stopImmediatePropagation()
  const message = document.getElementById('told')
  if (message) message.textContent = 'This has just moved. Press it once more.'
}

document.addEventListener('focusin', () => {
  focused = performance.now()
})
document.addEventListener('pointerdown', down, true)
document.addEventListener('click', click, true)
document.addEventListener('DOMContentLoaded', () => {
  // changes by scripts are recorded before the next click, other moves soon after
  new MutationObserver(() => lookAround()).observe(document.body, { childList: true, subtree: true })
  setInterval(() => document.hidden || lookAround(), LOOK_MS)
  // controls of the first page are settled for the keyboard
  lookAround(-SETTLES_MS)
})
