import { Unreadable } from './word.ts'

/** A here-document with a quoted delimiter. The shell does not expand its text. */
export interface Heredoc {
  readonly delimiter: string
  /** Leading tabs of its lines are ignored. */
  readonly indented: boolean
  /** Offset after the delimiter. */
  readonly end: number
}

const START = /<<(-?)[ \t]*(?:'([A-Za-z0-9_]+)'|"([A-Za-z0-9_]+)"|\\([A-Za-z0-9_]+))(?=[ \t\n;|&>)]|$)/y

/** The here-document at an offset. Undefined if the shell would expand its text. */
export const heredocStart = (text: string, at: number): Heredoc | undefined => {
  START.lastIndex = at
  const found = START.exec(text)
  if (found === null) return undefined
  const [whole, dash, single, double, escaped] = found
  // the backslash quotes only the first letter, which is enough
  return { delimiter: single ?? double ?? escaped ?? '', indented: dash === '-', end: at + whole.length }
}

const withoutIndent = (line: string, { indented }: Heredoc): string => (indented ? line.replace(/^\t+/, '') : line)

/**
 * True if, within a substitution, a line before the delimiter could end the here-document: Bash accepts a line that
 * only starts with the delimiter, and before 4.4 it joins continued lines.
 */
const couldEndBefore = (body: string, heredoc: Heredoc): boolean =>
  [body, body.replaceAll('\\\n', '')].some((read) =>
    read.split('\n').some((line) => withoutIndent(line, heredoc).startsWith(heredoc.delimiter)),
  )

/**
 * The text of a here-document and the offset of the line after it. `from` is the start of the text. Throws Unreadable
 * if the end is missing or ambiguous.
 */
export const heredocBody = (
  text: string,
  from: number,
  heredoc: Heredoc,
  isWithin: boolean,
): { readonly body: string; readonly end: number } => {
  for (let at = from; at <= text.length; ) {
    const next = text.indexOf('\n', at)
    const end = next === -1 ? text.length : next
    if (withoutIndent(text.slice(at, end), heredoc) === heredoc.delimiter) {
      const body = text.slice(from, at)
      if (isWithin && couldEndBefore(body, heredoc))
        throw new Unreadable('holds a here-document in a substitution that some shells end earlier')
      return { body, end }
    }
    if (next === -1) break
    at = next + 1
  }
  throw new Unreadable('holds a here-document without its end')
}

const BEGUN = /(<<-?[ \t]*(?:'\w+'|"\w+"|\\\w+)[^\n]{0,1000}\n[\t\n]*)\\/g

/** Replaces each backslash at the start of a here-document by a letter, because the grammar attaches it to the previous line. */
export const withoutFirstBackslash = (text: string): string => text.replace(BEGUN, '$1x')
