import type { OnData } from '#lib/sse'

const MAX_VALUE_BYTES = 8 * 1024 * 1024

const LF = 10
const QUOTE = 34
const OPEN_ARRAY = 91
const BACKSLASH = 92
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/**
 * Splits a stream of JSON into its values, however it was cut into chunks: objects one after another, as JSON lines are, or the elements of one array.
 * Bytes are copied only where a value spans chunks; a value over 8 MiB is passed over.
 */
export class JsonSplitter {
  readonly #onData: OnData
  readonly #limit: number
  #depth = 0
  #isInString = false
  #isEscaped = false
  #hasBegun = false
  /** Where the value in hand begins in the chunk in hand. */
  #start = 0
  /** Of the value in hand, from earlier chunks. */
  #pending: Buffer[] = []
  #length = 0
  /** The last value was skipped for its length. */
  lastWasTooLong = false

  constructor(onData: OnData, limit = MAX_VALUE_BYTES) {
    this.#onData = onData
    this.#limit = limit
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    this.#start = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (this.#isInString) this.#inString(byte)
      else this.#outside(bytes, byte, at)
    }
    if (this.#depth > 0) this.#keep(bytes)
  }

  #outside(bytes: Buffer, byte: number, at: number): void {
    if (byte === QUOTE) this.#isInString = this.#depth > 0
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte, at)
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#close(bytes, at + 1)
  }

  /** A value that has not ended is none. */
  end(): void {
    this.#forget()
  }

  /** The bracket that the stream begins with is that of the one array. */
  #open(byte: number, at: number): void {
    if (this.#depth === 0) this.#start = at
    if (this.#hasBegun || byte === OPEN_OBJECT) this.#depth++
    this.#hasBegun = true
  }

  #close(bytes: Buffer, end: number): void {
    if (this.#depth > 0 && --this.#depth === 0) this.#dispatch(bytes, this.#start, end)
  }

  #inString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInString = false
    // no string of JSON holds one: a line is broken, and the next may be whole
    else if (byte === LF) this.#forget()
  }

  #dispatch(bytes: Buffer, start: number, end: number): void {
    const length = this.#length + end - start
    this.lastWasTooLong = length > this.#limit
    const pending = this.#pending
    this.#forget()
    if (this.lastWasTooLong) return
    if (pending.length === 0) this.#onData(bytes, start, end)
    else this.#onData(Buffer.concat([...pending, bytes.subarray(start, end)], length), 0, length)
  }

  #keep(bytes: Buffer): void {
    this.#length += bytes.length - this.#start
    if (this.#length > this.#limit) this.#pending = []
    else this.#pending.push(Buffer.from(bytes.subarray(this.#start)))
  }

  #forget(): void {
    this.#depth = 0
    this.#isInString = false
    this.#isEscaped = false
    this.#pending = []
    this.#length = 0
  }
}
