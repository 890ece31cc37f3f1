import { LongStringCutter } from '#lib/json'
import { LineEnds } from './line-ends.ts'

const MAX_EVENT_BYTES = 8 * 1024 * 1024
const FIRST_ROOM = 1024
/** What is kept between events at most; a larger room is given back. */
const IDLE_ROOM = 64 * 1024

const LF = 10
const CR = 13
const SPACE = 32
const COLON = 58
const BOM = [0xef, 0xbb, 0xbf]
const NAME = [0x64, 0x61, 0x74, 0x61]

// How far a line has been read: the three bytes of a byte order mark, the four of "data", its colon, its value.
const STREAM_START = -3
const LINE_START = 0
const NAMED = 4
const COLONED = 5
const VALUE = 6
const OTHER = 7

const EMPTY = Buffer.alloc(0)

/** Gets the data of one event: `bytes` from `start` to `end`, there only during the call. */
export type OnData = (bytes: Buffer, start: number, end: number) => void

export interface SplitterOptions {
  /** The longest event in bytes. */
  readonly limit?: number
  /** A longer one is shortened instead of passed over. */
  readonly shortens?: boolean
}

/**
 * Splits an event stream into the data of its events, however it was cut into chunks: lines end in LF, CRLF or CR.
 * Bytes are copied only where an event spans chunks or lines; an event over 8 MiB is passed over, comments and other fields too.
 * With `shortens`, long strings in the JSON of such an event are cut off, and it is passed over if it is too long even then.
 */
export class EventSplitter {
  readonly #onData: OnData
  readonly #limit: number
  readonly #shortens: boolean
  #state = STREAM_START
  #afterCr = false
  /** Data lines of the event in progress. */
  #lines = 0
  /** The only data line so far, if all of it is in the current chunk. */
  #from = -1
  #to = -1
  /** Data from earlier chunks and lines. */
  #room = EMPTY
  #buffered = 0
  #tooLong = false
  /** Set while the event in progress is longer than the limit, and shortened. */
  #cutter: LongStringCutter | undefined
  /** The last complete event was skipped for its length. */
  lastWasTooLong = false
  /** Of the chunk in hand. */
  readonly #lineEnds = new LineEnds(EMPTY)

  constructor(onData: OnData, { limit = MAX_EVENT_BYTES, shortens = false }: SplitterOptions = {}) {
    this.#onData = onData
    this.#limit = limit
    this.#shortens = shortens
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    this.#lineEnds.begin(bytes)
    let at = 0
    if (this.#afterCr && bytes.length > 0) {
      this.#afterCr = false
      if (bytes[0] === LF) at = 1
    }
    while (at < bytes.length) at = this.#state < VALUE ? this.#name(bytes, at) : this.#rest(bytes, at)
    if (this.#from >= 0) this.#keepLine(bytes)
  }

  /** The stream is over: an event without its closing line counts too. */
  end(): void {
    this.#endLine(EMPTY)
    this.#endLine(EMPTY)
  }

  /** Reads one byte of what is before a value. */
  #name(bytes: Buffer, at: number): number {
    const byte = bytes[at]
    if (byte === LF || byte === CR) return this.#lineEnd(bytes, at)
    const state = this.#state
    if (state < LINE_START) return this.#mark(byte, at)
    if (state === COLONED) {
      this.#openLine(bytes)
      this.#state = VALUE
      return byte === SPACE ? this.#rest(bytes, at + 1) : at
    }
    this.#state = byte === (state === NAMED ? COLON : NAME[state]) ? state + 1 : OTHER
    return at + 1
  }

  /** Passes over a byte order mark at the very start. */
  #mark(byte: number | undefined, at: number): number {
    const state = this.#state
    const marked = byte === BOM[state - STREAM_START]
    if (marked) this.#state = state + 1
    else this.#state = state === STREAM_START ? LINE_START : OTHER
    return marked ? at + 1 : at
  }

  /** Reads a value, or a line of no interest, as far as the chunk has it. */
  #rest(bytes: Buffer, at: number): number {
    const end = this.#lineEnds.from(at)
    const whole = end < bytes.length
    if (this.#state === VALUE) {
      if (whole && this.#lines === 1 && this.#buffered === 0 && !this.#tooLong) {
        this.#from = at
        this.#to = end
      } else this.#keep(bytes, at, end)
    }
    return whole ? this.#lineEnd(bytes, end) : end
  }

  /** Takes the line end at `at`, both bytes of it if they are there. */
  #lineEnd(bytes: Buffer, at: number): number {
    this.#endLine(bytes)
    if (bytes[at] === LF) return at + 1
    if (at + 1 === bytes.length) this.#afterCr = true
    return bytes[at + 1] === LF ? at + 2 : at + 1
  }

  #endLine(bytes: Buffer): void {
    const state = this.#state
    this.#state = LINE_START
    if (state === LINE_START) this.#dispatch(bytes)
    else if (state === NAMED || state === COLONED) this.#openLine(bytes)
  }

  /** A further data line is joined to the earlier ones by a line feed. */
  #openLine(bytes: Buffer): void {
    if (this.#lines++ === 0) return
    if (this.#from >= 0) this.#keepLine(bytes)
    this.#keep(LINE_FEED, 0, 1)
  }

  #keepLine(bytes: Buffer): void {
    this.#keep(bytes, this.#from, this.#to)
    this.#from = -1
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    if (this.#tooLong) return
    if (this.#cutter === undefined && this.#buffered + end - start > this.#limit) this.#shorten()
    if (this.#cutter === undefined) this.#store(bytes, start, end)
    else this.#cutter.push(bytes, start, end)
  }

  /** From here on the event is kept without the ends of its long strings, or not at all. */
  #shorten(): void {
    const room = this.#room
    const buffered = this.#buffered
    this.#room = EMPTY
    this.#buffered = 0
    if (this.#shortens) {
      this.#cutter = new LongStringCutter((bytes, start, end) => this.#store(bytes, start, end))
      this.#cutter.push(room, 0, buffered)
    } else this.#tooLong = true
  }

  #store(bytes: Buffer, start: number, end: number): void {
    const length = this.#buffered + end - start
    if (this.#tooLong || length > this.#limit) {
      this.#tooLong = true
      this.#room = EMPTY
      this.#buffered = 0
      return
    }
    if (length > this.#room.length) {
      const room = Buffer.allocUnsafeSlow(Math.max(FIRST_ROOM, length, Math.min(this.#room.length * 2, this.#limit)))
      this.#room.copy(room, 0, 0, this.#buffered)
      this.#room = room
    }
    bytes.copy(this.#room, this.#buffered, start, end)
    this.#buffered = length
  }

  #dispatch(bytes: Buffer): void {
    if (this.#lines === 0) return
    if (this.#from >= 0 && this.#to - this.#from > this.#limit) this.#keepLine(bytes)
    const from = this.#from
    const room = this.#room
    const buffered = this.#buffered
    const tooLong = this.#tooLong
    this.#lines = 0
    this.#from = -1
    this.#buffered = 0
    this.#tooLong = false
    this.#cutter = undefined
    if (room.length > IDLE_ROOM) this.#room = EMPTY
    this.lastWasTooLong = tooLong
    if (tooLong) return
    if (from < 0) this.#onData(room, 0, buffered)
    else this.#onData(bytes, from, this.#to)
  }
}

const LINE_FEED = Buffer.from('\n')
