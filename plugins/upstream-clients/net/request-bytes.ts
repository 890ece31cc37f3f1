import type { UpstreamRequest } from 'guard-gateway/core'
import { BAD_VALUE, CONNECTION, CONTENT_LENGTH, INVALID, isToken, meaningOf, TRANSFER_ENCODING } from './names.ts'

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

/** Lays a request out. Throws TypeError for a byte that HTTP forbids, or a framing that is not the body's. */
export const requestBytes = ({ method, path, headers, body }: UpstreamRequest): RequestBytes => {
  if (!isToken(method) || path === '' || BAD_PATH.test(path)) throw new TypeError('method or path cannot be sent')
  const fields = new Fields()
  for (let index = 0; index + 1 < headers.length; index += 2) fields.add(headers[index] ?? '', headers[index + 1] ?? '')
  const text = `${method} ${path} HTTP/1.1\r\n${fields.finished(method, body)}`
  const joined = body !== undefined && body.length <= MAX_JOINED
  const head = Buffer.allocUnsafe(text.length + (joined ? body.length : 0))
  head.write(text, 'latin1')
  if (joined) body.copy(head, text.length)
  return { head, body: joined ? undefined : body, closes: fields.closes }
}

/** The header lines of one request. */
class Fields {
  #text = ''
  #length: string | undefined
  #connection: string | undefined

  add(name: string, value: string): void {
    const meaning = meaningOf(name)
    if (meaning === INVALID || meaning === TRANSFER_ENCODING || BAD_VALUE.test(value))
      throw new TypeError('a header cannot be sent')
    if (meaning === CONTENT_LENGTH) this.#length = value
    else if (meaning === CONNECTION) this.#connection = value
    this.#text += `${name}: ${value}\r\n`
  }

  get closes(): boolean {
    return this.#connection !== undefined && /\bclose\b/i.test(this.#connection)
  }

  /** All lines and the empty one; says what the caller did not. */
  finished(method: string, body: Buffer | undefined): string {
    const length = body?.length ?? 0
    if (this.#length !== undefined && Number(this.#length) !== length)
      throw new TypeError('content-length is not the length of the body')
    const isUnsaid = this.#length === undefined && (length > 0 || !BODILESS.has(method))
    if (isUnsaid) this.#text += `Content-Length: ${length}\r\n`
    if (this.#connection === undefined) this.#text += 'Connection: keep-alive\r\n'
    return `${this.#text}\r\n`
  }
}
