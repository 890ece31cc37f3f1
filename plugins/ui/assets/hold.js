const KEPT = 'pointer'

/** Where the pointer was when the page before this one in the same tab went: it says nothing of itself until it moves. */
const kept = () => {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? undefined
  } catch {
    return undefined
  }
}

/** Where the pointer rests; none once it has left the window, or where there is none. */
let pointer = kept()

/** @param {PointerEvent} event */
const follow = ({ pointerType, clientX: x, clientY: y }) => {
  pointer = pointerType === 'touch' ? undefined : { x, y }
}
addEventListener('pointermove', follow)
addEventListener('pointerover', follow)
addEventListener('pointerdown', follow)
addEventListener('pagehide', () => {
  try {
    if (pointer) sessionStorage.setItem(KEPT, JSON.stringify(pointer))
    else sessionStorage.removeItem(KEPT)
  } catch {
    // where nothing may be kept, the next page waits for the pointer to move
  }
})
document.documentElement.addEventListener('pointerleave', () => {
  pointer = undefined
})

/** What the pointer is on: between rows the one below it. */
const under = () => {
  let found = pointer && document.elementFromPoint(pointer.x, pointer.y)
  while (found?.querySelector('[data-row]')) {
    const next = [...found.children].find((child) => child.getBoundingClientRect().bottom > pointer.y)
    if (!next) break
    found = next
  }
  return found
}

/** What must not move: what the pointer or the focus is on, of two the later one, since what stands before that stands before both. */
export const anchorIn = (main) => {
  const [first, ...more] = [under(), document.activeElement].filter((one) => one !== main && main.contains(one))
  const isLater = more.length > 0 && first.compareDocumentPosition(more[0]) & Node.DOCUMENT_POSITION_FOLLOWING
  return isLater ? more[0] : first
}

/** What tells an element without id from others beside it: a section has its heading, whatever is counted there. */
const kindOf = ({ tagName, className, firstElementChild: first }) =>
  [tagName, className, first?.matches('h2') && first.textContent.split(' (')[0]].join()

/** The child of `parent` that is what `element` is beside its own siblings: by id, without one by its place among its like. */
const twinOf = (element, parent) => {
  const { id } = element
  if (id) return [...parent.children].find((child) => child.id === id)
  const alike = (child) => !child.id && kindOf(child) === kindOf(element)
  const place = [...element.parentElement.children].filter(alike).indexOf(element)
  return [...parent.children].filter(alike)[place]
}

/** Columns stay as wide as they are, whatever comes into their cells. */
const freeze = (table) => {
  const heads = [...(table.rows[0]?.cells ?? [])].map((cell) => [cell, cell.getBoundingClientRect().width])
  if (!heads.every(([, width]) => width)) return
  for (const [cell, width] of heads) cell.style.width = `${width}px`
  table.style.tableLayout = 'fixed'
}

const partsOf = (node, selector) => (node.matches?.(selector) ? [node] : [...(node.querySelectorAll?.(selector) ?? [])])

/** A part as it is shown; what of it is over by now stays in its place, says so, and can be pressed no more. */
const keptAs = (node, there, endOf) => {
  const kept = node.cloneNode(true)
  for (const part of partsOf(kept, '[data-gone]')) {
    if (there.has(part.id)) continue
    part.classList.add('gone')
    part.dataset.gone = endOf(part)
    for (const control of part.querySelectorAll('button, input')) control.disabled = true
  }
  return kept
}

/** Takes what stands before `cut` out of `parent`, and `cut` too unless it is to stay. */
const takenBefore = (parent, cut, isStaying) => {
  const taken = [...parent.childNodes]
  taken.length = cut ? taken.indexOf(cut) + (isStaying ? 0 : 1) : 0
  for (const node of taken) node.remove()
  return taken
}

/** The twin of an element, or of the nearest before it that has one. */
const lastTwin = (element, parent) => {
  let one = element
  let twin
  while (one && !twin) {
    twin = twinOf(one, parent)
    one = one.previousElementSibling
  }
  return twin
}

/**
 * Makes what is to be shown (`to`) begin as what is shown (`from`) does, down to `anchor`: nothing above that comes, goes or changes places.
 * Gives the rows that wait therefore, and what goes back to what is shown where the newer state of kept rows would move the anchor.
 */
export const hold = (from, to, anchor) => {
  const there = new Map([...to.querySelectorAll('[id]')].map((element) => [element.id, element]))
  const ends = new Map([...to.querySelectorAll('[data-ends]')].map(({ dataset }) => [dataset.ends, dataset.end]))
  const endOf = ({ id, dataset }) => ends.get(id) ?? dataset.gone
  const renewed = []
  const waiting = []
  const keep = (node, taken) => {
    const kept = keptAs(node, there, endOf)
    const isRow = kept.matches?.('[data-row]')
    const holdsRows = !isRow && kept.querySelector?.('[data-row]')
    // no row is shown twice: what has its place further down by now stays above until that may change
    const fresh = kept.id && (isRow ? there.get(kept.id) : taken.find(({ id }) => id === kept.id))
    if (holdsRows) for (const { id } of partsOf(kept, '[data-row][id]')) there.get(id)?.remove()
    if (!fresh || holdsRows) return kept
    renewed.push([fresh, kept])
    return fresh
  }
  // rows that are taken out and shown nowhere wait; one that has come up from below stays there
  const place = (row, at) => {
    const old = document.getElementById(row.id)
    if (!old) waiting.push(row)
    else if (at.parentNode === old.parentNode && at.compareDocumentPosition(old) & Node.DOCUMENT_POSITION_FOLLOWING)
      return row
  }
  const level = (shown, next) => {
    const at = [...shown.children].find((child) => child.contains(anchor))
    if (!at) return
    if (at.matches('table')) freeze(at)
    const twin = twinOf(at, next)
    const taken = takenBefore(next, lastTwin(at, next), twin)
    const before = [...shown.childNodes].slice(0, [...shown.childNodes].indexOf(at)).map((node) => keep(node, taken))
    const here = twin ?? keptAs(at, there, endOf)
    next.prepend(...before, ...(twin ? [] : [here]))
    const rows = taken.filter((node) => !node.isConnected).flatMap((node) => partsOf(node, '[data-row][id]'))
    here.after(...rows.filter((row) => place(row, at)))
    if (!twin) return
    if (at.matches('[data-row]')) renewed.push([twin, keptAs(at, there, endOf)])
    else level(at, twin)
  }
  level(from, to)
  const back = () => {
    for (const [fresh, kept] of renewed) fresh.replaceWith(kept)
  }
  return { waiting, back }
}
