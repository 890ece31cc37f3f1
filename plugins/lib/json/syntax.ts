/** Where a text stops being JSON (UTF-16 offset), and what could have stood there. */
export interface JsonFault {
  readonly at: number
  readonly wanted: string
}

/** Line and column, both from 1, of a UTF-16 offset. */
export const lineAndColumn = (text: string, at: number): { line: number; column: number } => {
  let line = 1
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', start)) {
    line++
    start = end + 1
  }
  return { line, column: at - start + 1 }
}

const CLOSE: Readonly<Record<string, string>> = { '{': '}', '[': ']' }
const BLANKS = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LITERAL = /true|false|null/y
const PLAIN = /[^"\\\u0000-\u001f]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

const matchEnd = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}
const skipBlanks = (text: string, at: number): number => matchEnd(BLANKS, text, at)

/** The offset behind the string that opens at `at`, or the fault in it. */
const readString = (text: string, at: number): number | JsonFault => {
  let next = at + 1
  for (;;) {
    next = matchEnd(PLAIN, text, next)
    if (text[next] === '"') return next + 1
    if (text[next] !== '\\')
      return { at: next, wanted: next < text.length ? 'no control character in a string' : 'the end of the string (")' }
    const escaped = matchEnd(ESCAPE, text, next)
    if (escaped === -1) return { at: next, wanted: 'a valid escape' }
    next = escaped
  }
}

const readScalar = (text: string, at: number): number | JsonFault => {
  if (text[at] === '"') return readString(text, at)
  const end = Math.max(matchEnd(NUMBER, text, at), matchEnd(LITERAL, text, at))
  return end === -1 ? { at, wanted: 'a value' } : end
}

const readName = (text: string, at: number): number | JsonFault => {
  if (text[at] !== '"') return { at, wanted: 'a member name in double quotes' }
  const end = readString(text, at)
  if (typeof end !== 'number') return end
  const colon = skipBlanks(text, end)
  return text[colon] === ':' ? colon + 1 : { at: colon, wanted: '":"' }
}

/** What stands behind a value inside `open`: the offset behind a comma or behind the closing bracket, or the fault. */
const readSeparator = (text: string, at: number, open: string): { next: number; closed: boolean } | JsonFault => {
  const close = CLOSE[open]
  if (text[at] === close) return { next: at + 1, closed: true }
  if (text[at] === ',') return { next: at + 1, closed: false }
  return { at, wanted: `"," or "${close}"` }
}

/** The first place where `text` is not JSON; undefined if it is. Iterative, so any depth is fine. */
export const syntaxErrorAt = (text: string): JsonFault | undefined => {
  const open: string[] = []
  let at = 0
  for (;;) {
    const value = readOpening(text, at, open)
    if (typeof value !== 'number') return value
    const after = readClosings(text, value, open)
    if (typeof after !== 'number') return after
    if (open.length === 0) return after === text.length ? undefined : { at: after, wanted: 'nothing more' }
    at = after
  }
}

/** Reads brackets and names up to the end of the next scalar or empty collection. */
const readOpening = (text: string, from: number, open: string[]): number | JsonFault => {
  let at = skipBlanks(text, from)
  for (;;) {
    const value = open.at(-1) === '{' ? readName(text, at) : at
    if (typeof value !== 'number') return value
    at = skipBlanks(text, value)
    const bracket = text.charAt(at)
    const close = CLOSE[bracket]
    if (close === undefined) return readScalar(text, at)
    at = skipBlanks(text, at + 1)
    if (text[at] === close) return at + 1
    open.push(bracket)
  }
}

/** Reads closing brackets up to the next comma, or to the end once nothing is open. */
const readClosings = (text: string, from: number, open: string[]): number | JsonFault => {
  let at = skipBlanks(text, from)
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const found = readSeparator(text, at, top)
    if ('wanted' in found) return found
    if (!found.closed) return found.next
    open.pop()
    at = skipBlanks(text, found.next)
  }
  return at
}
