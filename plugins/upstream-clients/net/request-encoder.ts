import type { UpstreamRequest } from 'guard-gateway/lib/upstream-client'
import { isToken } from './header-kinds.ts'
import { HeaderTemplate } from './header-template.ts'

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

/** Encodes requests to one address. */
export class RequestEncoder {
  readonly #form: AbsoluteForm
  /** The headers of the last request: the next one mostly has the same. */
  #template = new HeaderTemplate([])

  constructor(form: AbsoluteForm = DIRECT) {
    this.#form = form
  }

  /** Throws TypeError for a byte that HTTP forbids, or a `content-length` that is not the body's. */
  encode({ method, path, headers, body }: UpstreamRequest): EncodedRequest {
    if (!isToken(method) || path === '' || BAD_PATH.test(path)) throw new TypeError('method or path cannot be sent')
    if (!this.#template.matches(headers)) this.#template = new HeaderTemplate(headers)
    const template = this.#template
    const { prefix, lines: own } = this.#form
    const text = `${method} ${prefix}${path} HTTP/1.1\r\n${template.render(headers)}${own}${framingLines(template, headers, method, body)}\r\n`
    const isInline = body !== undefined && body.length <= MAX_INLINE_BODY
    const head = Buffer.allocUnsafe(text.length + (isInline ? body.length : 0))
    head.write(text, 'latin1')
    if (isInline) body.copy(head, text.length)
    return { head, body: isInline ? undefined : body, closes: template.closes }
  }
}

/** The `content-length` and `connection` that the caller left out. */
const framingLines = (
  template: HeaderTemplate,
  headers: readonly string[],
  method: string,
  body: Buffer | undefined,
): string => {
  const length = body?.length ?? 0
  const given = template.contentLength(headers)
  if (given !== undefined && Number(given) !== length)
    throw new TypeError('content-length is not the length of the body')
  const isMissing = given === undefined && (length > 0 || !BODILESS.has(method))
  return `${isMissing ? `Content-Length: ${length}\r\n` : ''}${template.hasConnection ? '' : 'Connection: keep-alive\r\n'}`
}
