/** A member of an object or an element of an array in the source text. */
export interface Part {
  /** Undefined in an array. */
  readonly name: string | undefined
  /** Offset of the name, or of the value in an array. */
  readonly start: number
  /** Offsets of the value. */
  readonly from: number
  readonly to: number
}

const BLANKS = /[ \t\n\r]*/y
const SCALAR = /[^,\]}\s]*/y
const MARK = /["[\]{}]/g

const after = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  pattern.test(text)
  return pattern.lastIndex
}

/** The offset of the first character at or after `at` that is no blank. */
export const skipBlanks = (text: string, at: number): number => after(BLANKS, text, at)

const stringEnd = (text: string, open: number): number => {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

const collectionEnd = (text: string, open: number): number => {
  let depth = 0
  MARK.lastIndex = open
  for (let mark = MARK.exec(text); mark !== null; mark = MARK.exec(text)) {
    if (mark[0] === '"') MARK.lastIndex = stringEnd(text, mark.index)
    else depth += mark[0] === '{' || mark[0] === '[' ? 1 : -1
    if (depth === 0) return MARK.lastIndex
  }
  return text.length
}

const valueEnd = (text: string, at: number): number => {
  if (text[at] === '"') return stringEnd(text, at)
  return text[at] === '{' || text[at] === '[' ? collectionEnd(text, at) : after(SCALAR, text, at)
}

/** The members or elements of the value that starts at `open` in valid JSON; none if it is a scalar. */
export const partsOf = (text: string, open: number): readonly Part[] => {
  const kind = text[open]
  if (kind !== '{' && kind !== '[') return []
  const parts: Part[] = []
  let at = skipBlanks(text, open + 1)
  while (at < text.length && text[at] !== '}' && text[at] !== ']') {
    const start = at
    let name: string | undefined
    if (kind === '{') {
      const end = stringEnd(text, at)
      name = JSON.parse(text.slice(at, end)) as string
      at = skipBlanks(text, skipBlanks(text, end) + 1)
    }
    const to = valueEnd(text, at)
    parts.push({ name, start, from: at, to })
    at = skipBlanks(text, to)
    if (text[at] === ',') at = skipBlanks(text, at + 1)
  }
  return parts
}
