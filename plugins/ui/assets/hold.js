const KEY = 'pointer'

/** Last pointer position of the previous page in this tab, because a new page gets no event until the pointer moves. */
const stored = () => {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? undefined
  } catch {
    return undefined
  }
}

/** Pointer position; undefined if the pointer left the window or does not exist. */
let pointer = stored()

/** @param {PointerEvent} event */
const follow = ({ pointerType, clientX: x, clientY: y }) => {
  pointer = pointerType === 'touch' ? undefined : { x, y }
}
addEventListener('pointermove', follow)
addEventListener('pointerover', follow)
addEventListener('pointerdown', follow)
addEventListener('pagehide', () => {
  try {
    if (pointer) sessionStorage.setItem(KEY, JSON.stringify(pointer))
    else sessionStorage.removeItem(KEY)
  } catch {
    // without session storage the next page waits for a pointer event
  }
})
document.documentElement.addEventListener('pointerleave', () => {
  pointer = undefined
})

/** Element below the pointer; between rows, the next row. */
const under = () => {
  let found = pointer && document.elementFromPoint(pointer.x, pointer.y)
  while (found?.querySelector('[data-row]')) {
    const next = [...found.children].find((child) => child.getBoundingClientRect().bottom > pointer.y)
    if (!next) break
    found = next
  }
  return found
}

/** The element that must not move: the one with the pointer or the focus. Of two, the later one, since it stands below. */
export const anchorIn = (main) => {
  const [first, ...more] = [under(), document.activeElement].filter((one) => one !== main && main.contains(one))
  const isLater = more.length > 0 && first.compareDocumentPosition(more[0]) & Node.DOCUMENT_POSITION_FOLLOWING
  return isLater ? more[0] : first
}

/** Distinguishes an element without id from its siblings: a section by its heading. */
const kindOf = ({ tagName, className, firstElementChild: first }) =>
  [tagName, className, first?.matches('h2') && first.textContent.split(' (')[0]].join()

/** The child of `parent` that corresponds to `element`: by id, or by its position among siblings of its kind. */
const twinOf = (element, parent) => {
  const { id } = element
  if (id) return [...parent.children].find((child) => child.id === id)
  const alike = (child) => !child.id && kindOf(child) === kindOf(element)
  const place = [...element.parentElement.children].filter(alike).indexOf(element)
  return [...parent.children].filter(alike)[place]
}

/** Fixes the widths of columns. */
const freeze = (table) => {
  const heads = [...(table.rows[0]?.cells ?? [])].map((cell) => [cell, cell.getBoundingClientRect().width])
  if (!heads.every(([, width]) => width)) return
  for (const [cell, width] of heads) cell.style.width = `${width}px`
  table.style.tableLayout = 'fixed'
}

const partsOf = (node, selector) => (node.matches?.(selector) ? [node] : [...(node.querySelectorAll?.(selector) ?? [])])

/** The old version of a part; ended elements stay in place, are marked as ended, and are disabled. */
const copyAs = (node, there, endOf) => {
  const copy = node.cloneNode(true)
  for (const part of partsOf(copy, '[data-gone]')) {
    if (there.has(part.id)) continue
    part.classList.add('gone')
    part.dataset.gone = endOf(part)
    for (const control of part.querySelectorAll('button, input')) control.disabled = true
  }
  return copy
}

/** Removes the content of `parent` before `cut`, and `cut` itself unless it stays. */
const takenBefore = (parent, cut, isStaying) => {
  const taken = [...parent.childNodes]
  taken.length = cut ? taken.indexOf(cut) + (isStaying ? 0 : 1) : 0
  for (const node of taken) node.remove()
  return taken
}

/** The counterpart of an element, or of the nearest preceding sibling that has one. */
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
 * Makes the new version (`to`) equal to the old one (`from`) down to `anchor`, so that nothing above is added, removed or reordered.
 * Returns the rows that wait, and a function that restores old rows whose newer state would move the anchor.
 */
export const hold = (from, to, anchor) => {
  const there = new Map([...to.querySelectorAll('[id]')].map((element) => [element.id, element]))
  const ends = new Map([...to.querySelectorAll('[data-ends]')].map(({ dataset }) => [dataset.ends, dataset.end]))
  const endOf = ({ id, dataset }) => ends.get(id) ?? dataset.gone
  const renewed = []
  const waiting = []
  const keep = (node, taken) => {
    const copy = copyAs(node, there, endOf)
    const isRow = copy.matches?.('[data-row]')
    const holdsRows = !isRow && copy.querySelector?.('[data-row]')
    // a row appears once: if it has moved down, it stays above for now
    const fresh = copy.id && (isRow ? there.get(copy.id) : taken.find(({ id }) => id === copy.id))
    if (holdsRows) for (const { id } of partsOf(copy, '[data-row][id]')) there.get(id)?.remove()
    if (!fresh || holdsRows) return copy
    renewed.push([fresh, copy])
    return fresh
  }
  // removed rows that appear nowhere else wait; a row that moved up stays below
  const place = (row, at) => {
    const old = document.getElementById(row.id)
    if (!old) waiting.push(row)
    else if (at.parentNode === old.parentNode && at.compareDocumentPosition(old) & Node.DOCUMENT_POSITION_FOLLOWING)
      return row
  }
  const level = (current, next) => {
    const at = [...current.children].find((child) => child.contains(anchor))
    if (!at) return
    if (at.matches('table')) freeze(at)
    const twin = twinOf(at, next)
    const taken = takenBefore(next, lastTwin(at, next), twin)
    const before = [...current.childNodes]
      .slice(0, [...current.childNodes].indexOf(at))
      .map((node) => keep(node, taken))
    const here = twin ?? copyAs(at, there, endOf)
    next.prepend(...before, ...(twin ? [] : [here]))
    const rows = taken.filter((node) => !node.isConnected).flatMap((node) => partsOf(node, '[data-row][id]'))
    here.after(...rows.filter((row) => place(row, at)))
    if (!twin) return
    if (at.matches('[data-row]')) renewed.push([twin, copyAs(at, there, endOf)])
    else level(at, twin)
  }
  level(from, to)
  const back = () => {
    for (const [fresh, copy] of renewed) fresh.replaceWith(copy)
  }
  return { waiting, back }
}
