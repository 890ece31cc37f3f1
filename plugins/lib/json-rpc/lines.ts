const LF = 10
const CR = 13
/** How much of a line that is too long is kept of its beginning and of its end, in bytes. */
const ENDS = 256

/** What is left of a line that is too long. */
export interface LineEnds {
  readonly head: string
  readonly tail: string
}

/** Cuts what a pipe brings into lines, however it came in chunks; a line that is too long is dropped to its end. */
export class LineReader {
  readonly #limit: number
  readonly #onLine: (line: Buffer) => void
  readonly #onTooLong: (ends: LineEnds) => void
  #chunks: Buffer[] = []
  #length = 0
  #dropping = false
  #head: Buffer = Buffer.alloc(0)
  #tail: Buffer = Buffer.alloc(0)

  /** `limit`: the longest line in bytes. `onLine` gets each line that is not empty, without its end. */
  constructor(limit: number, onLine: (line: Buffer) => void, onTooLong: (ends: LineEnds) => void) {
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

  /** Nothing follows: what is there without a line end counts too. */
  end(): void {
    if (this.#length > 0 || this.#dropping) this.#end(Buffer.alloc(0))
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.#dropping) {
      this.#tail = lastOf(Buffer.concat([this.#tail, lastOf(bytes)]))
      return
    }
    this.#length += bytes.length
    this.#chunks.push(bytes)
    // a carriage return at the end does not count
    if (this.#length <= this.#limit + 1) return
    this.#dropping = true
    const whole = Buffer.concat(this.#chunks, this.#length)
    this.#head = Buffer.from(whole.subarray(0, ENDS))
    this.#tail = lastOf(whole)
    this.#chunks = []
    this.#length = 0
  }

  #end(last: Buffer): void {
    this.#keep(last)
    const whole = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks, this.#length)
    const tooLong = this.#dropping
    this.#chunks = []
    this.#length = 0
    this.#dropping = false
    if (tooLong || whole === undefined) {
      this.#onTooLong({ head: this.#head.toString(), tail: this.#tail.toString() })
      return
    }
    const line = whole.at(-1) === CR ? whole.subarray(0, -1) : whole
    if (line.length > this.#limit)
      this.#onTooLong({ head: line.toString('utf8', 0, ENDS), tail: lastOf(line).toString() })
    else if (line.length > 0) this.#onLine(line)
  }
}

/** The last bytes, apart from those they stand among. */
const lastOf = (bytes: Buffer): Buffer => Buffer.from(bytes.subarray(Math.max(0, bytes.length - ENDS)))
