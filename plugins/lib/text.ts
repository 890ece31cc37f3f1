/** The most UTF-16 units of one text that are looked at at all; what lies behind is cut before redaction. */
const MAX_TEXT = 262_144

/** The longest unfinished word that is dropped at the end of a text that was cut. */
const MAX_UNFINISHED = 512

/** Text that every backend can store: well-formed UTF-16 without U+0000, which becomes U+FFFD. */
export const sanitise = (text: string): string => {
  const formed = text.isWellFormed() ? text : text.toWellFormed()
  return formed.includes('\0') ? formed.replaceAll('\0', '\uFFFD') : formed
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** At most `max` UTF-16 units from the front of `text`; never half a surrogate pair. */
export const cutText = (text: string, max: number): string => {
  if (text.length <= max) return text
  if (max <= 0) return ''
  const splits = isHighSurrogate(text.charCodeAt(max - 1)) && isLowSurrogate(text.charCodeAt(max))
  return text.slice(0, splits ? max - 1 : max)
}

const isBlank = (unit: number): boolean => unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)

/** Drops the last word of a text that was cut somewhere, at most 512 units: half a secret is not recognised as one. */
export const dropUnfinishedWord = (text: string): string => {
  const floor = Math.max(0, text.length - MAX_UNFINISHED)
  let end = text.length
  while (end > floor && !isBlank(text.charCodeAt(end - 1))) end--
  return cutText(text, end)
}

/** What is kept of a text before it is redacted: `max` units; when cut, without the word the cut went through. */
export const cutBeforeRedaction = (text: string, max: number = MAX_TEXT): string =>
  text.length <= max ? text : dropUnfinishedWord(cutText(text, max))

/** What a reason repeats of texts that somebody sent, cut: `withoutQuoted` knows it again. */
export const quoted = (text: string, max = 60): string => JSON.stringify(cutText(text, max))

/** In double quotes, as JSON writes it; the end may be cut off. */
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|$)/g

/** A reason as records keep it, without what it quotes, but for words that may be shown. */
export const withoutQuoted = (reason: string, isShown: (word: string) => boolean): string =>
  reason.replace(QUOTED, (text) => (isShown(text.slice(1, -1)) ? text : '"…"'))

/** CSI sequences (colours, cursor) and OSC sequences (titles, links), with their parameters. */
const ESCAPE_SEQUENCE = /\u001b\[[0-9;:<=>?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,2048}(?:\u0007|\u001b\\)/g
/** Controls except tab and line feed; bidirectional marks, embeddings, overrides and isolates; line separators. */
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const NEEDS_CARE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const BLANKS = /[\t\n]+/g

/** Text that cannot steer a terminal or reorder what is read there; tabs and line feeds stay. */
export const terminalText = (text: string): string =>
  NEEDS_CARE.test(text) ? text.replace(ESCAPE_SEQUENCE, '').replace(UNPRINTABLE, '') : text

/** `terminalText` on one line, for a cell of a table: tabs and line feeds become a blank. */
export const terminalLine = (text: string): string => terminalText(text).replace(BLANKS, ' ')

const TOKEN = /[\p{L}\p{N}_]+/gu
const QUERY_TOKEN = /[\p{L}\p{N}_]+\*?/gu

/** Adds the search tokens of `text` to `into` until it holds `max`: lower-case words, and the parts of a word with underscores. */
export const addTokens = (into: Set<string>, text: string, max = 20_000): void => {
  for (const [word] of text.normalize('NFC').toLowerCase().matchAll(TOKEN)) {
    if (into.size >= max) return
    into.add(word)
    if (word.includes('_')) addParts(into, word, max)
  }
}

const addParts = (into: Set<string>, word: string, max: number): void => {
  for (const part of word.split('_')) if (part !== '' && into.size < max) into.add(part)
}

/** The distinct tokens a search asks for, all of which must occur; a `*` directly behind one makes it a prefix. */
export const queryTokens = (query: string): readonly string[] => [
  ...new Set(query.normalize('NFC').toLowerCase().match(QUERY_TOKEN)),
]
