import { HttpParseError } from './errors.ts'
import type { BodySink, Framing } from './framing.ts'
import { BAD_VALUE, CONTENT_LENGTH, headerKind, TRANSFER_ENCODING } from './header-kinds.ts'
import { colonOf } from './response-head.ts'

const { maxHeaderSize } = process.getBuiltinModule('node:http')
const LF = 0x0a
const CR = 0x0d
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"'
const SIZE_LINE = new RegExp(`^([0-9A-Fa-f]{1,13})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*$`)
/** What the beginning of a size line may look like. */
const SIZE_PREFIX = /^[0-9A-Fa-f]{1,13}(?:;[^\r]*)?\r?$/

/** What is read next. */
const SIZE = 0
const DATA = 1
const CHUNK_END = 2
const TRAILER = 3
const DONE = 4

const overflow = (): HttpParseError =>
  new HttpParseError('HPE_HEADER_OVERFLOW', 'chunk extensions or trailers without end')

/** The chunked transfer coding. Extensions and trailers are checked, bounded and dropped. */
export class ChunkedFraming implements Framing {
  readonly endsWithConnection = false
  #state = SIZE
  /** Bytes of the chunk that have not arrived yet. */
  #remaining = 0
  /** The part of a line that has arrived so far. */
  #line = ''
  /** Bytes of trailers so far. */
  #trailers = 0

  get isDone(): boolean {
    return this.#state === DONE
  }

  push(bytes: Buffer, sink: BodySink): number {
    let at = 0
    while (at < bytes.length && this.#state !== DONE)
      at = this.#state === DATA ? this.#data(bytes, at, sink) : this.#readLine(bytes, at)
    return at
  }

  #data(bytes: Buffer, at: number, sink: BodySink): number {
    const end = Math.min(bytes.length, at + this.#remaining)
    this.#remaining -= end - at
    if (this.#remaining === 0) this.#state = CHUNK_END
    sink.chunk(bytes.subarray(at, end))
    return end
  }

  #readLine(bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at)
    if (lf === -1) {
      this.#line += bytes.toString('latin1', at)
      this.#checkPartialLine()
      return bytes.length
    }
    const line = this.#line + bytes.toString('latin1', at, lf)
    this.#line = ''
    if (line.charCodeAt(line.length - 1) !== CR) throw new HttpParseError('HPE_CR_EXPECTED', 'a line without CRLF')
    this.#lineRead(line.slice(0, -1))
    return lf + 1
  }

  #lineRead(line: string): void {
    if (this.#state === SIZE) this.#size(line)
    else if (this.#state === TRAILER) this.#trailer(line)
    else if (line === '') this.#state = SIZE
    else throw new HttpParseError('HPE_STRICT', 'a chunk longer than it says')
  }

  #size(line: string): void {
    const digits = SIZE_LINE.exec(line)?.[1]
    if (digits === undefined) throw new HttpParseError('HPE_INVALID_CHUNK_SIZE', 'a chunk size that is none')
    if (line.length > maxHeaderSize) throw overflow()
    this.#remaining = Number.parseInt(digits, 16)
    this.#state = this.#remaining === 0 ? TRAILER : DATA
  }

  #trailer(line: string): void {
    if (line === '') {
      this.#state = DONE
      return
    }
    this.#trailers += line.length
    if (this.#trailers > maxHeaderSize) throw overflow()
    const colon = colonOf(line, 0, line.length)
    const kind = headerKind(line.slice(0, colon))
    const isFraming = kind === CONTENT_LENGTH || kind === TRANSFER_ENCODING
    if (isFraming || BAD_VALUE.test(line.slice(colon + 1)))
      throw new HttpParseError('HPE_INVALID_HEADER_TOKEN', 'a trailer that is not allowed')
  }

  /** Refuses what cannot become a line, so that no request waits for the rest of it. */
  #checkPartialLine(): void {
    if (this.#line.length > maxHeaderSize) throw overflow()
    if (this.#state === SIZE && !SIZE_PREFIX.test(this.#line))
      throw new HttpParseError('HPE_INVALID_CHUNK_SIZE', 'a chunk size that is none')
    if (this.#state === CHUNK_END && this.#line !== '\r')
      throw new HttpParseError('HPE_STRICT', 'a chunk longer than it says')
  }
}
