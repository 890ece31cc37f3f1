const LF = 10
const CR = 13

/** Finds the line ends of a chunk from its beginning to its end; each of its bytes is examined once for LF and once for CR. */
export class LineEnds {
  #bytes: Buffer
  #lf = -1
  #cr = -1

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Goes on with another chunk. */
  begin(bytes: Buffer): void {
    this.#bytes = bytes
    this.#lf = -1
    this.#cr = -1
  }

  /** The first LF or CR from `at` on, the length of the chunk if there is none. `at` never goes back. */
  from(at: number): number {
    if (this.#lf < at) this.#lf = placeOf(this.#bytes, LF, at)
    if (this.#cr < at) this.#cr = placeOf(this.#bytes, CR, at)
    return Math.min(this.#lf, this.#cr)
  }
}

const placeOf = (bytes: Buffer, byte: number, at: number): number => {
  const found = bytes.indexOf(byte, at)
  return found === -1 ? bytes.length : found
}
