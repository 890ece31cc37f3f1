import { HttpParseError } from './errors.ts'
import {
  BAD_VALUE,
  CONNECTION,
  CONTENT_LENGTH,
  headerKind,
  INVALID,
  KEEP_ALIVE,
  PLAIN,
  TRANSFER_ENCODING,
  tokensOf,
} from './header-kinds.ts'

/** Status and headers of a response. */
export interface ResponseHead {
  readonly status: number
  /** Name, value, name, value … in the order and spelling of the server. */
  readonly headers: readonly string[]
  /** Bytes of the body; undefined without `content-length`. */
  readonly length: number | undefined
  readonly isChunked: boolean
  /** The connection may be used again. */
  readonly isReusable: boolean
  /** How long the server keeps an idle connection, in milliseconds. */
  readonly keep_alive_ms: number
}

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/

/** Parses a head; every line, the last one too, ends in CRLF. Throws HttpParseError for everything that RFC 9112 forbids. */
export const parseHead = (text: string): ResponseHead => {
  const line = STATUS_LINE.exec(text)
  if (line === null) throw new HttpParseError('HPE_INVALID_CONSTANT', 'a first line that is no status line')
  const fields = new HeadParser()
  for (let at = line[0].length; at < text.length; ) {
    const end = text.indexOf('\r\n', at)
    fields.add(text, at, end)
    at = end + 2
  }
  return fields.head(Number(line[2]), line[1] === '1')
}

/** The index of the colon in a header line of a head or trailer. Throws HttpParseError for any other line. */
export const colonOf = (text: string, from: number, end: number): number => {
  const colon = text.indexOf(':', from)
  if (colon === -1 || colon >= end || headerKind(text.slice(from, colon)) === INVALID)
    throw new HttpParseError('HPE_INVALID_HEADER_TOKEN', 'a line that is no header')
  return colon
}

class HeadParser {
  readonly #headers: string[] = []
  #length: number | undefined
  #isChunked = false
  #closes = false
  #keeps = false
  #keepAliveMs = Number.POSITIVE_INFINITY

  /** Adds the line between two indexes of a text. */
  add(text: string, from: number, end: number): void {
    const colon = colonOf(text, from, end)
    const name = text.slice(from, colon)
    const value = trimmed(text, colon + 1, end)
    if (BAD_VALUE.test(value)) throw new HttpParseError('HPE_INVALID_HEADER_TOKEN', 'a header with a forbidden byte')
    this.#headers.push(name, value)
    const kind = headerKind(name)
    if (kind !== PLAIN) this.#note(kind, value)
  }

  head(status: number, isCurrent: boolean): ResponseHead {
    if (this.#isChunked && this.#length !== undefined)
      throw new HttpParseError('HPE_INVALID_TRANSFER_ENCODING', 'both a length and chunks')
    // an HTTP/1.0 server that sends chunks may mean something else by the end of a message
    const isReusable = !this.#closes && (isCurrent || (this.#keeps && !this.#isChunked))
    return {
      status,
      headers: this.#headers,
      length: this.#length,
      isChunked: this.#isChunked,
      isReusable,
      keep_alive_ms: this.#keepAliveMs,
    }
  }

  #note(kind: number, value: string): void {
    if (kind === CONTENT_LENGTH) this.#setLength(value)
    else if (kind === TRANSFER_ENCODING) this.#setCoding(value)
    else if (kind === CONNECTION) this.#setConnection(value)
    else if (kind === KEEP_ALIVE) this.#setKeepAlive(value)
  }

  #setLength(value: string): void {
    if (this.#length !== undefined) throw new HttpParseError('HPE_UNEXPECTED_CONTENT_LENGTH', 'two lengths')
    if (!/^\d{1,15}$/.test(value)) throw new HttpParseError('HPE_INVALID_CONTENT_LENGTH', 'a length that is none')
    this.#length = Number(value)
  }

  #setCoding(value: string): void {
    // the gateway asks for no other coding, and one that it does not decode would pass as the body
    if (this.#isChunked || value.toLowerCase() !== 'chunked')
      throw new HttpParseError('HPE_INVALID_TRANSFER_ENCODING', 'a transfer coding other than chunked')
    this.#isChunked = true
  }

  #setConnection(value: string): void {
    // nearly every server sends this
    const tokens = value === 'keep-alive' ? [value] : tokensOf(value)
    this.#closes ||= tokens.includes('close')
    this.#keeps ||= tokens.includes('keep-alive')
  }

  #setKeepAlive(value: string): void {
    const seconds = /(?:^|[,\s])timeout=(\d{1,9})\b/i.exec(value)?.[1]
    if (seconds !== undefined) this.#keepAliveMs = Number(seconds) * 1_000
  }
}

/** The text between two indexes, without spaces and tabs around it. */
const trimmed = (text: string, from: number, end: number): string => {
  let start = from
  let stop = end
  while (start < stop && isBlank(text.charCodeAt(start))) start++
  while (stop > start && isBlank(text.charCodeAt(stop - 1))) stop--
  return text.slice(start, stop)
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09
