/** What gives a JSON text its form. */
export const mark = {
  line: 10,
  string: 34,
  stringEnd: -34,
  comma: 44,
  array: 91,
  arrayEnd: 93,
  object: 123,
  objectEnd: 125,
} as const

const QUOTE = 34
const BACKSLASH = 92
/** Most strings are short: so many bytes are looked at here before the native search is called. */
const SHORT = 16
const NOTHING = new Uint8Array(0)

const isMark = new Uint8Array(256)
for (const byte of [mark.line, mark.string, mark.comma, mark.array, mark.arrayEnd, mark.object, mark.objectEnd])
  isMark[byte] = 1

/** Goes through the marks of a JSON text in the chunks that it comes in; those inside of strings are none. Never throws, whatever comes. */
export class JsonMarks {
  #chunk: Uint8Array
  #next = 0
  #inString = false
  #escaped = false
  /** Offset of the mark in hand. */
  at = -1

  constructor(chunk: Uint8Array = NOTHING, from = 0) {
    this.#chunk = chunk
    this.#next = from
  }

  /** Goes on with the next chunk. */
  feed(chunk: Uint8Array): void {
    this.#chunk = chunk
    this.#next = 0
  }

  /** Goes to the next mark: a byte of `mark`, for the end of a string a number of its own; 0 where the chunk ends. */
  next(): number {
    if (this.#inString) return this.#stringEnd()
    const chunk = this.#chunk
    const end = chunk.length
    for (let at = this.#next; at < end; at++) {
      const byte = chunk[at] ?? 0
      if (isMark[byte] !== 1) continue
      this.at = at
      this.#next = at + 1
      this.#inString = byte === QUOTE
      return byte
    }
    this.#next = end
    return 0
  }

  #stringEnd(): number {
    const chunk = this.#chunk
    const from = this.#next + (this.#escaped ? 1 : 0)
    const quote = closingQuote(chunk, from)
    const end = chunk.length
    if (quote < end) {
      this.#escaped = false
      this.#inString = false
      this.at = quote
      this.#next = quote + 1
      return mark.stringEnd
    }
    // an empty chunk says nothing of what is escaped
    if (this.#next < end) this.#escaped = quote > end
    this.#next = end
    return 0
  }
}

/** Offset of the first quote from `from` on that is not escaped; the length if there is none, one more if the last byte escapes what follows. */
export const closingQuote = (bytes: Uint8Array, from: number): number => {
  const end = bytes.length
  const short = Math.min(from + SHORT, end)
  let at = from
  while (at < short) {
    const byte = bytes[at]
    if (byte === QUOTE) return at
    at += byte === BACKSLASH ? 2 : 1
  }
  for (let quote = bytes.indexOf(QUOTE, at); quote !== -1; quote = bytes.indexOf(QUOTE, at)) {
    if ((slashesBefore(bytes, quote, at) & 1) === 0) return quote
    at = quote + 1
  }
  return end + (at > end ? 1 : slashesBefore(bytes, end, at) & 1)
}

const slashesBefore = (bytes: Uint8Array, at: number, from: number): number => {
  let first = at
  while (first > from && bytes[first - 1] === BACKSLASH) first--
  return at - first
}

/** The string that opens at `open`. */
export const stringAt = (bytes: Buffer, open: number): string =>
  JSON.parse(bytes.toString('utf8', open, closingQuote(bytes, open + 1) + 1)) as string
