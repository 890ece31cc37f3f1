import { isAlnum } from './alphabet.ts'

/** The value of each base64 digit of either alphabet, 64 for other characters. */
const DIGITS = new Uint8Array(128).fill(64)
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
for (let value = 0; value < 64; value++) DIGITS[ALPHABET.charCodeAt(value)] = value
DIGITS[0x2d] = 62
DIGITS[0x5f] = 63

/** Shorter runs are not taken for base64. */
export const MIN_BASE64 = 20
/** How many bytes decide at first sight whether a run decodes to text. */
const PROBE = 12

/** The byte is text in its place: printable, or part of a UTF-8 sequence; `owed` are continuation bytes still due, -1 if it is none. */
const nextOwed = (byte: number, owed: number): number => {
  if (owed > 0) return byte >= 0x80 && byte < 0xc0 ? owed - 1 : -1
  return OWED[byte] ?? -1
}

/** By first byte of a sequence: how many more belong to it, -1 where none begins. */
const OWED = Int8Array.from({ length: 256 }, (_none, byte) => {
  if (byte < 0x80) return (byte >= 0x20 && byte !== 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d ? 0 : -1
  if (byte < 0xc2 || byte > 0xf4) return -1
  return byte < 0xe0 ? 1 : 2 + Number(byte >= 0xf0)
})

/** The first bytes of the run decode to text; allocates nothing, since nearly every identifier gets here. */
const startsAsText = (text: string, start: number, end: number): boolean => {
  let bits = 0
  let held = 0
  let owed = 0
  let bytes = 0
  for (let at = start; at < end && bytes < PROBE; at++) {
    bits = ((bits << 6) | (DIGITS[text.charCodeAt(at)] ?? 64)) & 0x3fff
    held += 6
    if (held < 8) continue
    held -= 8
    owed = nextOwed((bits >> held) & 0xff, owed)
    if (owed === -1) return false
    bytes++
  }
  return true
}

/** Where in the run base64 of a text begins: at its start or behind a divider; -1 if nowhere. */
export const textStart = (text: string, start: number, end: number): number => {
  if (startsAsText(text, start, end)) return start
  for (let at = start + 1; end - at >= MIN_BASE64; at++) {
    if (!isAlnum(text.charCodeAt(at - 1)) && startsAsText(text, at, end)) return at
  }
  return -1
}

/** The text that base64 or base64url stands for, up to the first byte that is none; undefined if it begins with none. */
export const decodeBase64 = (coded: string): string | undefined => {
  if (!startsAsText(coded, 0, coded.length)) return undefined
  const text = Buffer.from(coded, 'base64').toString()
  const end = text.search(NO_TEXT)
  return end === -1 ? text : end === 0 ? undefined : text.slice(0, end)
}

const NO_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\uFFFD]/
