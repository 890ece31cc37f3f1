import { isScanFault, QUOTE, type ScanFault, scanJson, stringEnd } from './scan.ts'

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

/** What a scan expects, in the words of an error that names its position. */
const EXPECTED: Readonly<Record<string, string>> = {
  'a number': 'a value',
  'a member name': 'a member name in double quotes',
  'a colon': '":"',
  'a comma or }': '"," or "}"',
  'a comma or ]': '"," or "]"',
  'the end of the text': 'nothing more',
}

/** The first place where `text` is not JSON; undefined if it is. Any depth is fine. */
export const syntaxErrorAt = (text: string): ScanFault | undefined => {
  const fault = scanJson(text, { keep: 0, max_depth: Number.POSITIVE_INFINITY })
  if (!isScanFault(fault)) return undefined
  const { at, expected } = fault
  return text.charCodeAt(at) === QUOTE && STRINGS.has(expected)
    ? stringFault(text, ~stringEnd(text, at))
    : { at, expected: EXPECTED[expected] ?? expected }
}

const STRINGS = new Set(['a string', 'a member name'])

/** What is wrong inside of a string. */
const stringFault = (text: string, at: number): ScanFault => {
  if (at === text.length) return { at, expected: 'the end of the string (")' }
  return { at, expected: text[at] === '\\' ? 'a valid escape' : 'no control character in a string' }
}
