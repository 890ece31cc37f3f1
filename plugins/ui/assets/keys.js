const isTyping = (element) =>
  element?.matches?.('input:not([type="checkbox"], [type="radio"], [type="submit"]), select, textarea')

/** The current row; at first that of the address. */
const current = () => document.querySelector('[data-row].at, body:not([data-stood]) [data-row]:target')

/** Makes a row current. */
export const goTo = (row) => {
  if (!row) return
  current()?.classList.remove('at')
  document.body.dataset.stood = ''
  row.classList.add('at')
  ;(row.querySelector('a[href]') ?? row).focus({ preventScroll: true })
  row.scrollIntoView({ block: 'nearest' })
}

const step = (by) => {
  const all = [...document.querySelectorAll('[data-row]')]
  const at = all.indexOf(current())
  const seen = at === -1 && all.find((row) => row.getBoundingClientRect().bottom > 0)
  goTo(seen || all[at + by])
}

/** Clicks the element of a shortcut, in the current row or outside of rows. */
const press = (key) => {
  const name = CSS.escape(key)
  const target =
    current()?.querySelector(`[data-key="${name}"]`) ??
    document.querySelector(`main [data-key="${name}"]:not([data-row] *)`)
  target?.click()
  return target !== null
}

const actions = {
  // the page's own search comes before that of the bar
  '/': () => (document.querySelector('main [type="search"]') ?? document.querySelector('[type="search"]'))?.focus(),
  '?': () => document.querySelector('dialog').showModal(),
  j: () => step(1),
  k: () => step(-1),
  x: () => current()?.querySelector('[type="checkbox"]')?.click(),
}

/** Runs a shortcut; true if there is one. */
const act = (key) => {
  const action = actions[key]
  if (!action) return press(key)
  action()
  return true
}

/** Whether an event may be a shortcut. */
export const isFree = ({ ctrlKey, altKey, metaKey, target }) =>
  !ctrlKey && !altKey && !metaKey && !isTyping(target) && !document.querySelector('dialog[open]')

/** Shortcuts activate existing links and buttons. They are off while a field has the focus or a dialog is open. */
export const keys = () => {
  let leading = false
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && isTyping(document.activeElement)) document.activeElement.blur()
    if (!isFree(event)) return
    if (leading) document.querySelector(`nav [data-key="${CSS.escape(event.key)}"]`)?.click()
    else if (event.key !== 'g' && act(event.key)) event.preventDefault()
    leading = !leading && event.key === 'g'
  })
}
