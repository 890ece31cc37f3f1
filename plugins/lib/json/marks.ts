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

const isMark = new Uint8Array(256)
for (const byte of [mark.line, mark.string, mark.comma, mark.array, mark.arrayEnd, mark.object, mark.objectEnd])
  isMark[byte] = 1

/** Finds the marks of a JSON text in the chunks that it comes in; those inside of strings are none. Never throws, whatever comes. */
export class JsonMarks {
  #inString = false
  #escaped = false

  /** Tells of each mark of the next chunk with its offset there: a byte of `mark`, for the end of a string a number of its own. */
  feed(chunk: Uint8Array, found: (byte: number, at: number) => void): void {
    const end = chunk.length
    let at = 0
    while (at < end) {
      if (this.#inString) {
        at = this.#stringEnd(chunk, at)
        if (at === end) return
        found(mark.stringEnd, at++)
        continue
      }
      const byte = chunk[at] ?? 0
      if (isMark[byte] === 1) {
        if (byte === QUOTE) this.#inString = true
        found(byte, at)
      }
      at++
    }
  }

  /** The offset of the quote that ends the string; the length of the chunk if none does. */
  #stringEnd(chunk: Uint8Array, from: number): number {
    const end = chunk.length
    let at = from
    if (this.#escaped && at < end) {
      this.#escaped = false
      at++
    }
    while (at < end) {
      const byte = chunk[at]
      if (byte === QUOTE) {
        this.#inString = false
        return at
      }
      at += byte === BACKSLASH ? 2 : 1
    }
    this.#escaped = at > end
    return end
  }
}
