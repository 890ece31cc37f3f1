import { LineEnds } from './line-ends.ts'

const LF = 10
const CR = 13

/** Cuts an event stream into the bytes of its events without losing one, however it came in chunks: lines end in LF, CRLF or CR. */
export class EventCutter {
  readonly #onEvent: (raw: Buffer) => void
  #pending: Buffer[] = []
  /** Bytes of the event under way that wait for its end. */
  length = 0
  /** The event under way has bytes, also such as were taken. */
  #begun = false
  /** Nothing of the line in hand has been seen. */
  #atLineStart = true
  #afterCr = false

  constructor(onEvent: (raw: Buffer) => void) {
    this.#onEvent = onEvent
  }

  push(chunk: Buffer): void {
    let from = this.#endsCrlf(chunk)
    const lineEnds = new LineEnds(chunk)
    for (let start = from, at = lineEnds.from(start); start < chunk.length; start = at + 1, at = lineEnds.from(start)) {
      if (at > start) {
        this.#atLineStart = false
        this.#afterCr = false
      }
      const byte = chunk[at]
      if (byte === undefined) break
      if (this.#endsNoLine(byte)) continue
      const ended = this.#atLineStart
      this.#atLineStart = true
      if (!ended) continue
      // the second half of a CRLF belongs to the event if it is there already
      if (byte === CR && chunk[at + 1] === LF) {
        this.#afterCr = false
        at++
      }
      this.#dispatch(chunk.subarray(from, at + 1))
      from = at + 1
    }
    this.#keep(chunk.subarray(from))
  }

  /** Passes on at once the LF of a CRLF whose CR has ended an event: readers wait for it before they take that event. Gives its length. */
  #endsCrlf(chunk: Buffer): 0 | 1 {
    if (!this.#afterCr || this.#begun || chunk[0] !== LF) return 0
    this.#afterCr = false
    this.#dispatch(chunk.subarray(0, 1))
    return 1
  }

  /** The LF of a CRLF ends nothing that the CR has not ended. */
  #endsNoLine(byte: number): boolean {
    const second = byte === LF && this.#afterCr
    this.#afterCr = byte === CR
    return second
  }

  /** Takes what waits for the end of the event; the rest of it comes alone. */
  take(): Buffer {
    const [only = NONE] = this.#pending
    const bytes = this.#pending.length < 2 ? only : Buffer.concat(this.#pending, this.length)
    this.#pending = []
    this.length = 0
    return bytes
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#begun = true
    this.length += bytes.length
    this.#pending.push(bytes)
  }

  #dispatch(last: Buffer): void {
    this.#begun = false
    if (this.#pending.length === 0) {
      this.#onEvent(last)
      return
    }
    this.#pending.push(last)
    this.length += last.length
    this.#onEvent(this.take())
  }
}

const NONE = Buffer.alloc(0)
