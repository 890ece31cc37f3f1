import type { UpstreamRequest } from 'guard-gateway/core'
import { HeaderLines } from './header-lines.ts'
import { isToken } from './names.ts'

const BAD_PATH = /[^\x21-\xff]/
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])
/** A body up to this size is copied behind its head, which costs less than a second buffer on its way. */
const MAX_JOINED = 16_384

/** A request as it is written: the head, and the body where it is a buffer of its own. */
export interface RequestBytes {
  readonly head: Buffer
  readonly body: Buffer | undefined
  /** The request itself asks for the connection to be closed. */
  readonly closes: boolean
}

/** What a proxy that takes whole URLs is told beside a request. */
export interface ProxyForm {
  /** What stands before the path: `http://upstream.example`. */
  readonly prefix: string
  /** Header lines for the proxy alone, each with its end. */
  readonly lines: string
}

const DIRECT: ProxyForm = { prefix: '', lines: '' }

/** Lays requests to one address out. */
export class RequestLayout {
  readonly #form: ProxyForm
  /** Those of the last request: the next one mostly has the same. */
  #lines = new HeaderLines([])

  constructor(form: ProxyForm = DIRECT) {
    this.#form = form
  }

  /** Throws TypeError for a byte that HTTP forbids, or a framing that is not the body's. */
  bytes({ method, path, headers, body }: UpstreamRequest): RequestBytes {
    if (!isToken(method) || path === '' || BAD_PATH.test(path)) throw new TypeError('method or path cannot be sent')
    if (!this.#lines.fit(headers)) this.#lines = new HeaderLines(headers)
    const lines = this.#lines
    const { prefix, lines: own } = this.#form
    const text = `${method} ${prefix}${path} HTTP/1.1\r\n${lines.text(headers)}${own}${framing(lines, headers, method, body)}\r\n`
    const joined = body !== undefined && body.length <= MAX_JOINED
    const head = Buffer.allocUnsafe(text.length + (joined ? body.length : 0))
    head.write(text, 'latin1')
    if (joined) body.copy(head, text.length)
    return { head, body: joined ? undefined : body, closes: lines.closes }
  }
}

/** What the caller did not say of the body and the connection. */
const framing = (lines: HeaderLines, headers: readonly string[], method: string, body: Buffer | undefined): string => {
  const length = body?.length ?? 0
  const said = lines.length(headers)
  if (said !== undefined && Number(said) !== length) throw new TypeError('content-length is not the length of the body')
  const isUnsaid = said === undefined && (length > 0 || !BODILESS.has(method))
  return `${isUnsaid ? `Content-Length: ${length}\r\n` : ''}${lines.saysConnection ? '' : 'Connection: keep-alive\r\n'}`
}
