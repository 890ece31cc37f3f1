const LF = 10
const CR = 13

/** Cuts what a pipe brings into lines, however it came in chunks; a line that is too long is dropped to its end. */
export class LineReader {
  readonly #limit: number
  readonly #onLine: (line: Buffer) => void
  readonly #onTooLong: () => void
  #kept: Buffer[] = []
  #length = 0
  #dropping = false

  /** `limit`: the longest line in bytes. `onLine` gets each line that is not empty, without its end. */
  constructor(limit: number, onLine: (line: Buffer) => void, onTooLong: () => void) {
    this.#limit = limit
    this.#onLine = onLine
    this.#onTooLong = onTooLong
  }

  push(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      this.#end(chunk.subarray(from, end))
      from = end + 1
    }
    this.#keep(chunk.subarray(from))
  }

  /** Nothing follows: what stands there without a line end counts too. */
  end(): void {
    if (this.#length > 0 || this.#dropping) this.#end(Buffer.alloc(0))
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0 || this.#dropping) return
    this.#length += bytes.length
    // a carriage return at the end does not count
    if (this.#length > this.#limit + 1) {
      this.#dropping = true
      this.#kept = []
      this.#length = 0
    } else this.#kept.push(bytes)
  }

  #end(last: Buffer): void {
    this.#keep(last)
    const whole = this.#kept.length === 1 ? this.#kept[0] : Buffer.concat(this.#kept, this.#length)
    const tooLong = this.#dropping
    this.#kept = []
    this.#length = 0
    this.#dropping = false
    if (tooLong || whole === undefined) {
      this.#onTooLong()
      return
    }
    const line = whole.at(-1) === CR ? whole.subarray(0, -1) : whole
    if (line.length > this.#limit) this.#onTooLong()
    else if (line.length > 0) this.#onLine(line)
  }
}
