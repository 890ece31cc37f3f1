import { inArguments } from './fingerprint.ts'

/**
 * Whether JSON text is canonical as it stands: one object without blanks, its members in order and none of them left out, their values
 * texts of ASCII without escapes, whole numbers, true, false or null. To see that takes a third of parsing it and writing it again.
 */
export const arePlainArguments = (text: string): boolean => {
  if (text.charCodeAt(0) !== OPEN) return false
  let at = 1
  let last = ''
  while (text.charCodeAt(at) === QUOTE) {
    const colon = stringEnd(text, at)
    const name = text.slice(at + 1, colon - 1)
    if (text.charCodeAt(colon) !== COLON || name <= last || inArguments(name)) return false
    last = name
    at = valueEnd(text, colon + 1)
    if (text.charCodeAt(at) === CLOSE) return at + 1 === text.length
    if (text.charCodeAt(at++) !== COMMA) return false
  }
  return false
}

const OPEN = 0x7b
const CLOSE = 0x7d
const QUOTE = 0x22
const COLON = 0x3a
const COMMA = 0x2c
const BACKSLASH = 0x5c
const ZERO = 0x30
const NINE = 0x39

/** No place in a text. */
const NOWHERE = -1

/** Behind the string that begins there; NOWHERE if it is not plain. */
const stringEnd = (text: string, start: number): number => {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) return at + 1
    if (unit < 0x20 || unit > 0x7e || unit === BACKSLASH) return NOWHERE
  }
  return NOWHERE
}

const words = ['true', 'false', 'null']

const valueEnd = (text: string, start: number): number => {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return stringEnd(text, start)
  if (first >= ZERO && first <= NINE) return wholeNumberEnd(text, start)
  const word = words.find((one) => text.startsWith(one, start))
  return word === undefined ? NOWHERE : start + word.length
}

/** Numbers of so many digits are what they look like. */
const MOST_DIGITS = 15

const wholeNumberEnd = (text: string, start: number): number => {
  let at = start
  while (text.charCodeAt(at) >= ZERO && text.charCodeAt(at) <= NINE) at++
  const digits = at - start
  return digits > MOST_DIGITS || (digits > 1 && text.charCodeAt(start) === ZERO) ? NOWHERE : at
}
