const QUOTE = 34
const BACKSLASH = 92
const LETTER_U = 117
const HEX_DIGITS = 4
/** Bytes of a string that are kept. */
const RETAINED_CHARS = 65_536

/** Gets a piece of the shortened text: `bytes` from `start` to `end`, there only during the call. */
type OnPiece = (bytes: Buffer, start: number, end: number) => void

/**
 * Passes a JSON text on in which strings over 64 KiB are cut off, as those of images are. The text comes in pieces, cut anywhere.
 * Its structure stays, so that what stands after a long string can be read without holding the string.
 */
export class LongStringCutter {
  readonly #onPiece: OnPiece
  #bytes: Buffer = Buffer.alloc(0)
  /** The next quote and the next backslash of the piece in hand, from where they were last looked for. */
  #quote = -1
  #backslash = -1
  #inString = false
  /** Bytes of the string in hand that were passed on. */
  #length = 0
  /** The rest of the string in hand is left out. */
  #isCut = false
  #afterBackslash = false
  /** Digits to come of a `\u` escape. */
  #digits = 0

  constructor(onPiece: OnPiece) {
    this.#onPiece = onPiece
  }

  push(bytes: Buffer, start: number, end: number): void {
    this.#bytes = end === bytes.length ? bytes : bytes.subarray(0, end)
    this.#quote = -1
    this.#backslash = -1
    for (let at = start; at < end; ) at = this.#inString ? this.#inside(at) : this.#outside(at)
  }

  /** Passes what stands outside of strings, with the quote that opens the next one. */
  #outside(at: number): number {
    const quote = this.#nextQuote(at)
    const next = Math.min(quote + 1, this.#bytes.length)
    this.#onPiece(this.#bytes, at, next)
    this.#inString = quote < next
    this.#length = 0
    this.#digits = 0
    this.#isCut = false
    return next
  }

  #inside(at: number): number {
    if (this.#afterBackslash) return this.#escaped(at)
    const quote = this.#nextQuote(at)
    if (this.#backslash < at) this.#backslash = placeOf(this.#bytes, BACKSLASH, at)
    const stop = Math.min(quote, this.#backslash)
    if (stop > at) return this.#text(at, stop)
    const isQuote = stop === quote
    this.#inString = !isQuote
    this.#afterBackslash = !isQuote
    // an escape sequence is kept or left out as a whole
    if (!isQuote) this.#isCut ||= this.#length >= RETAINED_CHARS
    if (isQuote || !this.#isCut) this.#onPiece(this.#bytes, at, at + 1)
    return at + 1
  }

  #escaped(at: number): number {
    this.#afterBackslash = false
    if (this.#isCut) return at + 1
    this.#length += 2
    if (this.#bytes[at] === LETTER_U) this.#digits = HEX_DIGITS
    this.#onPiece(this.#bytes, at, at + 1)
    return at + 1
  }

  #text(at: number, stop: number): number {
    if (this.#isCut) return stop
    const digits = Math.min(this.#digits, stop - at)
    this.#digits -= digits
    const end = Math.min(stop, at + Math.max(digits, RETAINED_CHARS - this.#length))
    // a character is kept or left out as a whole
    const next = afterCharacter(this.#bytes, end, stop)
    if (next > at) this.#onPiece(this.#bytes, at, next)
    this.#length += next - at
    this.#isCut = next < stop
    return stop
  }

  #nextQuote(at: number): number {
    if (this.#quote < at) this.#quote = placeOf(this.#bytes, QUOTE, at)
    return this.#quote
  }
}

const placeOf = (bytes: Buffer, byte: number, at: number): number => {
  const found = bytes.indexOf(byte, at)
  return found === -1 ? bytes.length : found
}

/** The end of the UTF-8 character that `at` is in, as far as it has come. */
const afterCharacter = (bytes: Buffer, at: number, stop: number): number => {
  let next = at
  while (next < stop && next - at < 3 && ((bytes[next] ?? 0) & 0xc0) === 0x80) next++
  return next
}
