import type { UpstreamRequest } from 'guard-gateway/lib/upstream-client'
import {
  BAD_VALUE,
  CONNECTION,
  CONTENT_LENGTH,
  headerKind,
  INVALID,
  isToken,
  TRANSFER_ENCODING,
} from './header-kinds.ts'

const BAD_PATH = /[^\x21-\xff]/
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])
/** A body up to this size is copied after its head, which costs less than a second buffer. */
const MAX_INLINE_BODY = 16_384

/** The bytes of a request: the head, and a large body as a buffer of its own. */
export interface EncodedRequest {
  readonly head: Buffer
  readonly body: Buffer | undefined
  /** The request itself asks for the connection to be closed. */
  readonly closes: boolean
}

/** What a request to a proxy in absolute-form (RFC 9112, section 3.2.2) has besides. */
export interface AbsoluteForm {
  /** Before the path: `http://upstream.example`. */
  readonly prefix: string
  /** Header lines for the proxy alone, each with its CRLF. */
  readonly lines: string
}

const DIRECT: AbsoluteForm = { prefix: '', lines: '' }

/** The bytes of a request. Throws TypeError for a byte that HTTP forbids, or a `content-length` that is not the body's. */
export const encodeRequest = (
  { method, path, headers, body }: UpstreamRequest,
  { prefix, lines: own }: AbsoluteForm = DIRECT,
): EncodedRequest => {
  if (!isToken(method) || path === '' || BAD_PATH.test(path)) throw new TypeError('method or path cannot be sent')
  const lines = headerLines(headers)
  const text = `${method} ${prefix}${path} HTTP/1.1\r\n${lines.text}${own}${framingLines(lines, method, body)}\r\n`
  const isInline = body !== undefined && body.length <= MAX_INLINE_BODY
  const head = Buffer.allocUnsafe(text.length + (isInline ? body.length : 0))
  head.write(text, 'latin1')
  if (isInline) body.copy(head, text.length)
  return { head, body: isInline ? undefined : body, closes: /\bclose\b/i.test(lines.connection ?? '') }
}

interface HeaderLines {
  readonly text: string
  /** Values of `content-length` and `connection`; undefined without such a header. */
  readonly length: string | undefined
  readonly connection: string | undefined
}

/** Throws TypeError for a header that cannot be sent. */
const headerLines = (headers: readonly string[]): HeaderLines => {
  let text = ''
  let length: string | undefined
  let connection: string | undefined
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    const kind = headerKind(name)
    if (kind === INVALID || kind === TRANSFER_ENCODING || BAD_VALUE.test(value))
      throw new TypeError('a header cannot be sent')
    if (kind === CONTENT_LENGTH) length = value
    else if (kind === CONNECTION) connection = value
    text += `${name}: ${value}\r\n`
  }
  return { text, length, connection }
}

/** The `content-length` and `connection` that the caller left out. */
const framingLines = ({ length: given, connection }: HeaderLines, method: string, body: Buffer | undefined): string => {
  const length = body?.length ?? 0
  if (given !== undefined && Number(given) !== length)
    throw new TypeError('content-length is not the length of the body')
  const isMissing = given === undefined && (length > 0 || !BODILESS.has(method))
  return `${isMissing ? `Content-Length: ${length}\r\n` : ''}${connection === undefined ? 'Connection: keep-alive\r\n' : ''}`
}
