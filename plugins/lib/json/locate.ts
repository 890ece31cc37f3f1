import { pointerPart } from './pointer.ts'
import { lineAndColumn } from './syntax.ts'

/** Keys from the outermost value inwards. */
export type JsonPath = readonly (string | number)[]

const BLANKS = /[ \t\n\r]*/y
const SCALAR = /[^,\]}\s]*/y

const matchEnd = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  pattern.test(text)
  return pattern.lastIndex
}
const skipBlanks = (text: string, at: number): number => matchEnd(BLANKS, text, at)

/** The offset behind the string that opens at `open`; the length if nothing ends it. */
const stringEnd = (text: string, open: number): number => {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (text[before] === '\\') before--
    if ((quote - before) % 2 === 1) return quote + 1
  }
  return text.length
}

const NEXT_MARK = /["[\]{}]/g

const DEPTH_CHANGES: Readonly<Record<string, number>> = { '{': 1, '[': 1, '}': -1, ']': -1 }

/** The offset behind the array or object that opens at `open`. */
const collectionEnd = (text: string, open: number): number => {
  let depth = 0
  NEXT_MARK.lastIndex = open
  for (let mark = NEXT_MARK.exec(text); mark !== null; mark = NEXT_MARK.exec(text)) {
    const change = DEPTH_CHANGES[mark[0]]
    if (change === undefined) NEXT_MARK.lastIndex = stringEnd(text, mark.index)
    else depth += change
    if (depth === 0) return NEXT_MARK.lastIndex
  }
  return text.length
}

/** The offset behind the value that begins at `at`. */
const valueEnd = (text: string, at: number): number => {
  if (text[at] === '"') return stringEnd(text, at)
  return text[at] === '{' || text[at] === '[' ? collectionEnd(text, at) : matchEnd(SCALAR, text, at)
}

/** Where the members or elements of the value at `open` begin, with a member's name; ends silently where the text is damaged. */
function* parts(text: string, open: number): Generator<{ name: string | undefined; at: number }> {
  const isObject = text[open] === '{'
  for (let at = skipBlanks(text, open + 1); at < text.length && text[at] !== ']' && text[at] !== '}'; ) {
    let name: string | undefined
    if (isObject) {
      const end = text[at] === '"' ? stringEnd(text, at) : text.length
      const colon = skipBlanks(text, end)
      if (text[colon] !== ':') return
      name = nameOf(text.slice(at, end))
      at = skipBlanks(text, colon + 1)
    }
    yield { name, at }
    at = skipBlanks(text, valueEnd(text, at))
    if (text[at] !== ',') return
    at = skipBlanks(text, at + 1)
  }
}

const nameOf = (quoted: string): string | undefined => {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return
  }
}

/** Line and column, both from 1, of the value at `path` in valid JSON; of the innermost one there is where the path leads nowhere. */
export const placeOf = (text: string, path: JsonPath): { line: number; column: number } => {
  let at = skipBlanks(text, 0)
  for (const key of path) {
    const found = partAt(text, at, key)
    if (found === undefined) break
    at = found
  }
  return lineAndColumn(text, at)
}

const partAt = (text: string, open: number, key: string | number): number | undefined => {
  if (text[open] !== (typeof key === 'number' ? '[' : '{')) return
  let index = 0
  let found: number | undefined
  for (const { name, at } of parts(text, open)) {
    if (index++ === key) return at
    if (name === key) found = at
  }
  return found
}

/** The path as a JSON pointer. */
export const pointerOf = (path: JsonPath): string => path.map((key) => `/${pointerPart(String(key))}`).join('')

/** The pointer to the first number that not every reader of JSON takes for the same: an integer beyond 2^53, or a number beyond all; undefined if there is none. `value` nests as deep as its reader allowed. */
export const inexactNumber = (value: unknown, path: JsonPath = []): string | undefined => {
  if (typeof value === 'bigint') return pointerOf(path)
  if (typeof value === 'number') {
    const exact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    return exact ? undefined : pointerOf(path)
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, part] of Object.entries(value)) {
    const found = inexactNumber(part, [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}
