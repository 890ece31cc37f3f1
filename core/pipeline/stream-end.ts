const LF = 10
const CR = 13

/**
 * Finds where an event of a stream ends, however the stream is cut into chunks: after a blank line, or after each line.
 * Used only once a stream is to end, so it scans few bytes.
 */
export class StreamEnd {
  #lineBreaks = 0
  #afterCr = false

  /** How many bytes of the chunk belong to events that are whole; -1 if none ends in it. */
  within(chunk: Uint8Array, lines = false): number {
    let end = -1
    for (let at = 0; at < chunk.length; at++) {
      if (!this.#endsEvent(chunk[at] ?? 0, lines ? 1 : 2)) continue
      // the line feed of a CRLF belongs to the same line, and may come with the next chunk
      if (chunk[at] !== CR || (chunk[at + 1] ?? LF) !== LF) end = at + 1
    }
    return end
  }

  #endsEvent(byte: number, breaks: number): boolean {
    if (byte === LF && this.#afterCr) {
      this.#afterCr = false
      return this.#lineBreaks >= breaks
    }
    this.#afterCr = byte === CR
    if (byte !== LF && byte !== CR) this.#lineBreaks = 0
    else this.#lineBreaks++
    return this.#lineBreaks >= breaks
  }
}
