import { isSpace } from './alphabet.ts'
import { type Hit, type Kind, marksAt } from './hit.ts'
import { isPlaceholder } from './placeholders.ts'

/** Signs that end a bare value only if what follows them shows that it is over. */
const SOFT = new Set([',', ';', '&', ')', ']', '}', '>', '"', "'", '`', '<', '\\'])
const BETWEEN = new Set([',', ';', '&'])
/** The longest name looked for behind a sign between two assignments. */
const NEXT_NAME = /^ ?[\w.-]{1,64} ?[\w.-]{0,32}=/

/** A soft sign at `at` ends the value: something closes, or another assignment begins. */
const ends = (text: string, at: number): boolean => {
  const sign = text.charAt(at)
  const next = text.charAt(at + 1)
  if (sign === '\\') return next === '"' || next === "'" || next === 'n' || next === 'r' || next === 't'
  if (sign === '<') return next === '/'
  if (next === '' || isSpace(next.charCodeAt(0)) || SOFT.has(next)) return true
  return BETWEEN.has(sign) && NEXT_NAME.test(text.slice(at + 1, at + 100))
}

/** The end of a value without quotes that begins at `from`, at most `max` characters on. */
export const unquotedEnd = (text: string, from: number, max = Number.POSITIVE_INFINITY): number => {
  const last = Math.min(text.length, from + max)
  let end = from
  while (end < last && !isSpace(text.charCodeAt(end))) {
    if (SOFT.has(text.charAt(end)) && ends(text, end)) break
    end++
  }
  return end
}

/** The end of the line `from` stands on, at most `max` on: a line break, one written as `\n`, or `quote` if the line stands in one. */
export const lineEnd = (
  text: string,
  from: number,
  quote: string | undefined,
  max = Number.POSITIVE_INFINITY,
): number => {
  const last = Math.min(text.length, from + max)
  let end = from
  while (end < last) {
    const sign = text[end]
    if (sign === '\n' || sign === '\r' || sign === quote) break
    if (sign === '\\' && (text[end + 1] === 'n' || text[end + 1] === 'r')) break
    end++
  }
  while (end > from && (text[end - 1] === ' ' || text[end - 1] === '\\')) end--
  return end
}

/** The offset of `quote` that closes what opened before `from`; one behind a backslash does not. The end of the line if none does. */
const closing = (text: string, from: number, quote: string): number => {
  for (let at = from; at < text.length; at++) {
    if (quote.length === 2 ? text.startsWith(quote, at) : text[at] === quote) return at
    if (text[at] === '\\') at++
  }
  return lineEnd(text, from, undefined)
}

const OPENING = /^(?:\\["'`]|["'`]|[bfrun@]["'])/i

/** A value in quotes begins at `from`. */
export const isQuoted = (text: string, from: number): boolean => OPENING.test(text.slice(from, from + 2))

/** A value in quotes at `from`, the quotes left standing; undefined if there are none or what they hold is no secret. */
export const quotedValue = (text: string, from: number, kind: Kind): Hit | undefined => {
  const opening = OPENING.exec(text.slice(from, from + 2))?.[0]
  if (opening === undefined) return undefined
  const quote = opening[0] === '\\' ? opening : opening.slice(-1)
  const start = from + opening.length
  const end = closing(text, start, quote)
  return end === start || marksAt(text, start) || isPlaceholder(text.slice(start, Math.min(end, start + 300)))
    ? undefined
    : { start, end, kind }
}
