import { Unreadable } from './word.ts'

/** A text that stands between lines of commands. */
export interface Heredoc {
  readonly delimiter: string
  /** Quotes around the word that ends it: the shell takes the text as it is. */
  readonly quoted: boolean
  /** Tabs before its lines do not count. */
  readonly indented: boolean
  /** Behind the delimiter. */
  readonly end: number
}

const START = /<<(-?)[ \t]*(?:'([A-Za-z0-9_]+)'|"([A-Za-z0-9_]+)"|(\\?)([A-Za-z0-9_]+))(?=[ \t\n;|&>)]|$)/y

/** The here-document that begins at an offset; undefined for one whose end is not a plain word. */
export const heredocStart = (text: string, at: number): Heredoc | undefined => {
  START.lastIndex = at
  const found = START.exec(text)
  if (found === null) return undefined
  const [whole, dash, single, double, backslash, bare] = found
  // only the first letter is quoted by a backslash, which is enough
  const delimiter = single ?? double ?? bare ?? ''
  return { delimiter, quoted: backslash !== '', indented: dash === '-', end: at + whole.length }
}

/** Its text, which begins at an offset, and where the line behind it begins. Throws Unreadable if it has no end, or holds what the shell puts something else in place of. */
export const heredocBody = (
  text: string,
  from: number,
  { delimiter, quoted, indented }: Omit<Heredoc, 'end'>,
): { readonly body: string; readonly end: number } => {
  for (let at = from; at <= text.length; ) {
    const next = text.indexOf('\n', at)
    const end = next === -1 ? text.length : next
    const line = text.slice(at, end)
    if ((indented ? line.replace(/^\t+/, '') : line) === delimiter)
      return { body: whole(text.slice(from, at), quoted), end }
    if (next === -1) break
    at = next + 1
  }
  throw new Unreadable('holds a here-document without its end')
}

/** The text, if the shell takes it as it is. */
const whole = (body: string, quoted: boolean): string => {
  if (!quoted && /[$`\\]/.test(body)) throw new Unreadable('holds a here-document in which the shell replaces parts')
  return body
}
