/** Random text that is the same in every run: a sample fails today as it fails tomorrow. */
let state = 20_261_121

const next = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 4_294_967_296
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
export const HEX = '0123456789abcdef'
export const ALNUM = LOWER + LOWER.toUpperCase() + DIGITS
export const URL64 = `${ALNUM}-_`

/** `length` characters of `alphabet`, the first ones such that letters and digits occur. */
export const random = (alphabet: string, length: number): string => {
  const lead = alphabet === HEX ? 'a1b2c3' : alphabet === DIGITS ? '' : 'a1B2c3'
  let text = lead.slice(0, length)
  while (text.length < length) text += alphabet.charAt(Math.floor(next() * alphabet.length))
  return text
}

export const hex = (length: number): string => random(HEX, length)
export const alnum = (length: number): string => random(ALNUM, length)
export const url64 = (length: number): string => random(URL64, length)
export const upper = (length: number): string => alnum(length).toUpperCase()
export const digits = (length: number): string => random(DIGITS, length)

/** Joined here and not in the source, so that no scanner of repositories takes a sample for a key. */
export const join = (...parts: readonly string[]): string => parts.join('')
