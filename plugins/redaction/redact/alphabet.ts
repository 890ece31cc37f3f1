/** Character classes of ASCII, one bit each; a run is extended by testing one bit a character. */
export const ALNUM = 1
export const HEX = 2
/** Letters, digits, underscore. */
export const WORD = 4
/** Letters, digits, underscore, hyphen: base64url. */
export const URL64 = 8
/** Letters, digits, `+`, `/`, `=`: base64. */
export const BASE64 = 16
/** `URL64` and full stop: tokens in parts. */
export const PARTS = 32
/** What RFC 9110 calls token68, and colon: opaque credentials. */
export const OPAQUE = 64
/** What stands in a path and query of an address. */
export const ADDRESS = 128

/** Either alphabet of base64, without its padding. */
export const CODED = 256

const CLASSES = new Uint16Array(128)

const allow = (characters: string, bits: number): void => {
  for (const character of characters) {
    const unit = character.charCodeAt(0)
    CLASSES[unit] = (CLASSES[unit] ?? 0) | bits
  }
}
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const EVERYWHERE = ALNUM | WORD | URL64 | BASE64 | PARTS | OPAQUE | ADDRESS | CODED
allow(`${LETTERS}${LETTERS.toUpperCase()}0123456789`, EVERYWHERE)
allow('0123456789abcdefABCDEF', HEX)
allow('_', WORD | URL64 | PARTS | OPAQUE | ADDRESS)
allow('-', URL64 | PARTS | OPAQUE | ADDRESS)
allow('.', PARTS | OPAQUE | ADDRESS)
allow('+/=', BASE64 | OPAQUE | ADDRESS)
allow('+/_-', CODED)
allow('~:', OPAQUE | ADDRESS)
allow('%&?;@$!*,#', ADDRESS)

/** The bits of a UTF-16 unit; none outside ASCII. */
export const classOf = (unit: number): number => (unit < 128 ? (CLASSES[unit] ?? 0) : 0)

export const isAlnum = (unit: number): boolean => (classOf(unit) & ALNUM) !== 0
export const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39
const isUpper = (unit: number): boolean => unit >= 0x41 && unit <= 0x5a
export const isLetter = (unit: number): boolean => isUpper(unit) || (unit >= 0x61 && unit <= 0x7a)
export const isBlank = (unit: number): boolean => unit === 0x20 || unit === 0x09
/** Blank, line end or other white space; also behind the end of the text (NaN). */
export const isSpace = (unit: number): boolean =>
  Number.isNaN(unit) || unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) || unit === 0xa0

/** The end of the run of `alphabet` that begins at `from`, at most `max` characters on. */
export const runEnd = (text: string, from: number, alphabet: number, max = Number.POSITIVE_INFINITY): number => {
  const last = Math.min(text.length, from + max)
  let end = from
  while (end < last && (classOf(text.charCodeAt(end)) & alphabet) !== 0) end++
  return end
}

/** The start of the run of `alphabet` that ends before `end`, at most `max` characters back. */
export const runStart = (text: string, end: number, alphabet: number, max: number): number => {
  const first = Math.max(0, end - max)
  let start = end
  while (start > first && (classOf(text.charCodeAt(start - 1)) & alphabet) !== 0) start--
  return start
}

/** As `runStart` of `PARTS`, letters beyond ASCII included. */
export const nameStart = (text: string, end: number, max: number): number => {
  const first = Math.max(0, end - max)
  let start = runStart(text, end, PARTS, max)
  for (; start > first; start--) {
    const unit = text.charCodeAt(start - 1)
    if (unit < 128 && (classOf(unit) & PARTS) === 0) break
    if (unit >= 128 && (unit < 0xc0 || unit === 0xd7 || (unit >= 0x2000 && unit < 0x3040) || unit >= 0xfe00)) break
  }
  return start
}

/** The offset of the first character at or behind `from` that is neither blank nor tab, at most `max` characters on. */
export const skipBlanks = (text: string, from: number, max = 16): number => {
  let at = from
  while (at < from + max && isBlank(text.charCodeAt(at))) at++
  return at
}
