import { HttpFault } from './fault.ts'
import {
  BAD_VALUE,
  CONNECTION,
  CONTENT_LENGTH,
  INVALID,
  KEEP_ALIVE,
  meaningOf,
  TRANSFER_ENCODING,
  tokensOf,
} from './names.ts'

/** What stands before a body. */
export interface ResponseHead {
  readonly status: number
  /** Name, value, name, value … as they came. */
  readonly headers: readonly string[]
  /** Bytes of the body; undefined if none is announced. */
  readonly length: number | undefined
  readonly isChunked: boolean
  /** The connection may be used again. */
  readonly isKept: boolean
  /** For how long the other side keeps it, in milliseconds. */
  readonly kept_ms: number
}

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/

/** Reads a head of which every line, the last one too, ends in CRLF. Throws HttpFault for everything that RFC 9112 forbids. */
export const parseHead = (text: string): ResponseHead => {
  const line = STATUS_LINE.exec(text)
  if (line === null) throw new HttpFault('HPE_INVALID_CONSTANT', 'a first line that is no status line')
  const fields = new HeadFields()
  for (let at = line[0].length; at < text.length; ) {
    const end = text.indexOf('\r\n', at)
    fields.add(text, at, end)
    at = end + 2
  }
  return fields.head(Number(line[2]), line[1] === '1')
}

/** A header line of a message or trailer: its colon. Throws HttpFault if it is none. */
export const colonOf = (text: string, from: number, end: number): number => {
  const colon = text.indexOf(':', from)
  if (colon === -1 || colon >= end || meaningOf(text.slice(from, colon)) === INVALID)
    throw new HttpFault('HPE_INVALID_HEADER_TOKEN', 'a line that is no header')
  return colon
}

class HeadFields {
  readonly #headers: string[] = []
  #length: number | undefined
  #isChunked = false
  #closes = false
  #keeps = false
  #keptMs = Number.POSITIVE_INFINITY

  /** Takes the line between two places of a text. */
  add(text: string, from: number, end: number): void {
    const colon = colonOf(text, from, end)
    const name = text.slice(from, colon)
    const value = trimmed(text, colon + 1, end)
    if (BAD_VALUE.test(value)) throw new HttpFault('HPE_INVALID_HEADER_TOKEN', 'a header with a forbidden byte')
    this.#headers.push(name, value)
    const meaning = meaningOf(name)
    if (meaning !== 0) this.#note(meaning, value)
  }

  head(status: number, isCurrent: boolean): ResponseHead {
    if (this.#isChunked && this.#length !== undefined)
      throw new HttpFault('HPE_INVALID_TRANSFER_ENCODING', 'both a length and chunks')
    // an older server that speaks of chunks may mean something else by the end of a message
    const isKept = !this.#closes && (isCurrent || (this.#keeps && !this.#isChunked))
    return {
      status,
      headers: this.#headers,
      length: this.#length,
      isChunked: this.#isChunked,
      isKept,
      kept_ms: this.#keptMs,
    }
  }

  #note(meaning: number, value: string): void {
    if (meaning === CONTENT_LENGTH) this.#setLength(value)
    else if (meaning === TRANSFER_ENCODING) this.#setCoding(value)
    else if (meaning === CONNECTION) this.#setConnection(value)
    else if (meaning === KEEP_ALIVE) this.#setKept(value)
  }

  #setLength(value: string): void {
    if (this.#length !== undefined) throw new HttpFault('HPE_UNEXPECTED_CONTENT_LENGTH', 'two lengths')
    if (!/^\d{1,15}$/.test(value)) throw new HttpFault('HPE_INVALID_CONTENT_LENGTH', 'a length that is none')
    this.#length = Number(value)
  }

  #setCoding(value: string): void {
    // no other coding was asked for, and one that is not undone would pass as the body itself
    if (this.#isChunked || value.toLowerCase() !== 'chunked')
      throw new HttpFault('HPE_INVALID_TRANSFER_ENCODING', 'a transfer coding other than chunked')
    this.#isChunked = true
  }

  #setConnection(value: string): void {
    // what nearly every server says
    const tokens = value === 'keep-alive' ? [value] : tokensOf(value)
    this.#closes ||= tokens.includes('close')
    this.#keeps ||= tokens.includes('keep-alive')
  }

  #setKept(value: string): void {
    const seconds = /(?:^|[,\s])timeout=(\d{1,9})\b/i.exec(value)?.[1]
    if (seconds !== undefined) this.#keptMs = Number(seconds) * 1_000
  }
}

/** The text between two places, without the spaces and tabs around it. */
const trimmed = (text: string, from: number, end: number): string => {
  let start = from
  let stop = end
  while (start < stop && isBlank(text.charCodeAt(start))) start++
  while (stop > start && isBlank(text.charCodeAt(stop - 1))) stop--
  return text.slice(start, stop)
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09
