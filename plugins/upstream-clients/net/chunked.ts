import { HttpFault } from './fault.ts'
import type { Framing, Sink } from './framing.ts'
import { BAD_VALUE, CONTENT_LENGTH, meaningOf, TRANSFER_ENCODING } from './names.ts'
import { colonOf } from './response-head.ts'

const { maxHeaderSize } = process.getBuiltinModule('node:http')
const LF = 0x0a
const CR = 0x0d
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"'
const SIZE_LINE = new RegExp(`^([0-9A-Fa-f]{1,13})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*$`)
/** What a line that has not come whole may look like. */
const SIZE_BEGINNING = /^[0-9A-Fa-f]{1,13}(?:;[^\r]*)?\r?$/

/** What is read next. */
const SIZE = 0
const DATA = 1
const GAP = 2
const TRAILER = 3
const DONE = 4

const overflow = (): HttpFault => new HttpFault('HPE_HEADER_OVERFLOW', 'chunk extensions or trailers without end')

/** The chunked transfer coding. Extensions and trailers are checked, bounded and passed over. */
export class ChunkedFraming implements Framing {
  readonly endsWithConnection = false
  #state = SIZE
  /** Bytes of the chunk that are still to come. */
  #left = 0
  /** A line that has not come whole. */
  #line = ''
  /** Bytes of trailers so far. */
  #trailers = 0

  get isDone(): boolean {
    return this.#state === DONE
  }

  push(bytes: Buffer, sink: Sink): number {
    let at = 0
    while (at < bytes.length && this.#state !== DONE)
      at = this.#state === DATA ? this.#data(bytes, at, sink) : this.#readLine(bytes, at)
    return at
  }

  #data(bytes: Buffer, at: number, sink: Sink): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    if (this.#left === 0) this.#state = GAP
    sink.piece(bytes.subarray(at, end))
    return end
  }

  #readLine(bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at)
    if (lf === -1) {
      this.#line += bytes.toString('latin1', at)
      this.#checkBeginning()
      return bytes.length
    }
    const line = this.#line + bytes.toString('latin1', at, lf)
    this.#line = ''
    if (line.charCodeAt(line.length - 1) !== CR) throw new HttpFault('HPE_CR_EXPECTED', 'a line without CRLF')
    this.#take(line.slice(0, -1))
    return lf + 1
  }

  #take(line: string): void {
    if (this.#state === SIZE) this.#size(line)
    else if (this.#state === TRAILER) this.#trailer(line)
    else if (line === '') this.#state = SIZE
    else throw new HttpFault('HPE_STRICT', 'a chunk longer than it says')
  }

  #size(line: string): void {
    const digits = SIZE_LINE.exec(line)?.[1]
    if (digits === undefined) throw new HttpFault('HPE_INVALID_CHUNK_SIZE', 'a chunk size that is none')
    if (line.length > maxHeaderSize) throw overflow()
    this.#left = Number.parseInt(digits, 16)
    this.#state = this.#left === 0 ? TRAILER : DATA
  }

  #trailer(line: string): void {
    if (line === '') {
      this.#state = DONE
      return
    }
    this.#trailers += line.length
    if (this.#trailers > maxHeaderSize) throw overflow()
    const colon = colonOf(line, 0, line.length)
    const meaning = meaningOf(line.slice(0, colon))
    const isFraming = meaning === CONTENT_LENGTH || meaning === TRANSFER_ENCODING
    if (isFraming || BAD_VALUE.test(line.slice(colon + 1)))
      throw new HttpFault('HPE_INVALID_HEADER_TOKEN', 'a trailer that is not allowed')
  }

  /** Refuses what cannot become a line, so that nobody waits for the rest of it. */
  #checkBeginning(): void {
    if (this.#line.length > maxHeaderSize) throw overflow()
    if (this.#state === SIZE && !SIZE_BEGINNING.test(this.#line))
      throw new HttpFault('HPE_INVALID_CHUNK_SIZE', 'a chunk size that is none')
    if (this.#state === GAP && this.#line !== '\r') throw new HttpFault('HPE_STRICT', 'a chunk longer than it says')
  }
}
