import { Unreadable } from './word.ts'

/** A text that is between lines of commands, with quotes around the word that ends it: the shell takes it as it is. */
export interface Heredoc {
  readonly delimiter: string
  /** Tabs before its lines do not count. */
  readonly indented: boolean
  /** Behind the delimiter. */
  readonly end: number
}

const START = /<<(-?)[ \t]*(?:'([A-Za-z0-9_]+)'|"([A-Za-z0-9_]+)"|\\([A-Za-z0-9_]+))(?=[ \t\n;|&>)]|$)/y

/** The here-document that starts at an offset; undefined for one in which the shell puts something else in place of what is there. */
export const heredocStart = (text: string, at: number): Heredoc | undefined => {
  START.lastIndex = at
  const found = START.exec(text)
  if (found === null) return undefined
  const [whole, dash, single, double, escaped] = found
  // only the first letter is quoted by a backslash, which is enough
  return { delimiter: single ?? double ?? escaped ?? '', indented: dash === '-', end: at + whole.length }
}

const withoutIndent = (line: string, { indented }: Heredoc): string => (indented ? line.replace(/^\t+/, '') : line)

/**
 * Whether a line before the last one could be the end within a substitution: there Bash takes one for it that only
 * starts so, and before 4.4 joins what a backslash continues.
 */
const couldEndBefore = (body: string, heredoc: Heredoc): boolean =>
  [body, body.replaceAll('\\\n', '')].some((read) =>
    read.split('\n').some((line) => withoutIndent(line, heredoc).startsWith(heredoc.delimiter)),
  )

/**
 * Its text, which starts at an offset, and where the line after it starts. Throws Unreadable if it has no end, or
 * could have another one.
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

/** The same text with a letter for each backslash that starts a here-document, which the grammar takes for part of the line before. */
export const withoutFirstBackslash = (text: string): string => text.replace(BEGUN, '$1x')
