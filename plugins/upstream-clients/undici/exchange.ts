import type { BodyReader, PushedBody } from 'guard-gateway/core'
import type { Exchange, UpstreamListener, UpstreamRequest } from 'guard-gateway/lib/upstream-client'
import type { Dispatcher } from 'undici'
import { HttpFault, withNodeCode } from './errors.ts'

/** Up to this size a copy of the body costs less than a second buffer in the write. */
const MAX_INLINE_BODY = 16_384

/** No final head yet. */
const AWAITING_HEAD = 0
/** The head has come, the body is being read. */
const READING_BODY = 1
const COMPLETE = 2
const FAILED = 3
/** The reader does not want the rest. */
const CANCELLED = 4

/** The connection as its exchange needs it. */
interface ExchangeConnection {
  /** A piece of the body has been parsed. */
  progressed(): void
  /** The response is complete. */
  release(): void
  /** Closes it; the exchange hears nothing more. */
  destroy(): void
}

/** One request and its response. A body that arrives together with its head is passed as a buffer; any other is pushed. */
export class UndiciExchange implements Exchange, PushedBody {
  readonly #request: UpstreamRequest
  readonly #listener: UpstreamListener
  readonly #head: string
  #connection: ExchangeConnection | undefined
  #status = 0
  #headers: readonly string[] = []
  /** Chunks that arrived before there was a reader. */
  #buffered: Buffer[] = []
  #reader: BodyReader | undefined
  #controller: Dispatcher.DispatchController | undefined
  #isPaused = false
  #isAnswered = false
  #state = AWAITING_HEAD
  /** What undici refuses at once. */
  #refusal: Error | undefined
  #isBegun = false

  /** Throws TypeError for a length that is not the body's. */
  constructor(request: UpstreamRequest, listener: UpstreamListener) {
    this.#request = request
    this.#listener = listener
    this.#head = requestHead(request)
  }

  /** The body is sent with the head. */
  get isInline(): boolean {
    return (this.#request.body?.length ?? 0) <= MAX_INLINE_BODY
  }

  /** The bytes of the head, and of the body where that is inline. */
  encode(): Buffer {
    const { body } = this.#request
    const inline = this.isInline ? body : undefined
    const bytes = Buffer.allocUnsafe(this.#head.length + (inline?.length ?? 0))
    bytes.write(this.#head, 'latin1')
    inline?.copy(bytes, this.#head.length)
    return bytes
  }

  /** Somebody reads the body, and does not hold it back. */
  get isReading(): boolean {
    return this.#state === READING_BODY && this.#reader !== undefined && !this.#isPaused
  }

  /** Throws TypeError, and sends nothing, for what HTTP forbids. */
  begin(connection: ExchangeConnection, client: Dispatcher): void {
    this.#connection = connection
    const { method, path, headers, body } = this.#request
    client.dispatch({ method, path, headers: headers as string[], body: body ?? null, reset: false }, this)
    if (this.#refusal !== undefined) throw new TypeError(this.#refusal.message, { cause: this.#refusal })
    this.#isBegun = true
  }

  /** The socket no longer reads the request's body. */
  sent(): void {
    this.#listener.sent?.()
  }

  stop(reason: Error): void {
    this.#fail(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
  }

  onResponseStart({ rawHeaders }: Dispatcher.DispatchController, status: number): void {
    this.#headers = (rawHeaders as Buffer[]).map(text)
    if (status < 200) return void this.#refuse('HPE_INVALID_STATUS')
    if (isCoded(this.#headers)) return void this.#refuse('HPE_INVALID_TRANSFER_ENCODING')
    this.#state = READING_BODY
    this.#status = status
    // all that came with the head is parsed by then
    queueMicrotask(() => this.#answer())
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#state !== READING_BODY) return
    this.#connection?.progressed()
    if (this.#reader === undefined) this.#buffered.push(bytes)
    else this.#reader.data(bytes)
    if (this.#isAnswered && !this.isReading) controller.pause()
  }

  onResponseEnd(): void {
    if (this.#state !== READING_BODY) return
    this.#state = COMPLETE
    // only then it is known whether the connection may be used again
    if (this.#isAnswered) queueMicrotask(() => this.#end())
  }

  onResponseError(_controller: unknown, error: NodeJS.ErrnoException): void {
    if (this.#isBegun) this.#fail(withNodeCode(error))
    else if (error.code === 'UND_ERR_INVALID_ARG' || error.code === 'UND_ERR_NOT_SUPPORTED') this.#refusal = error
    else queueMicrotask(() => this.#fail(withNodeCode(error)))
  }

  read(reader: BodyReader): void {
    this.#reader = reader
    const buffered = this.#buffered
    this.#buffered = []
    for (const bytes of buffered) this.#reader?.data(bytes)
    if (this.#state === COMPLETE) reader.end()
    else if (this.#state === FAILED) reader.cut()
    else this.#resume()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#resume()
  }

  destroy(): void {
    this.#reader = undefined
    this.#buffered = []
    if (this.#state !== READING_BODY) return
    this.#state = CANCELLED
    this.#connection?.destroy()
    this.#listener.over()
  }

  #answer(): void {
    this.#isAnswered = true
    const isComplete = this.#state === COMPLETE
    if (isComplete) this.#connection?.release()
    this.#listener.answered({
      status: this.#status,
      headers: this.#headers,
      body: isComplete ? joined(this.#buffered) : this,
    })
    if (isComplete || this.#state === FAILED) this.#listener.over()
  }

  #end(): void {
    this.#connection?.release()
    this.#reader?.end()
    this.#listener.over()
  }

  #refuse(code: string): void {
    this.#fail(new HttpFault(code))
  }

  #fail(error: Error): void {
    if (this.#state > READING_BODY) return
    const isWaiting = this.#state === AWAITING_HEAD
    this.#state = FAILED
    this.#connection?.destroy()
    if (isWaiting) {
      this.#isAnswered = true
      this.#listener.failed(error)
    } else this.#reader?.cut()
    // else those who wait for the answer hear it first
    if (this.#isAnswered) this.#listener.over()
  }

  #resume(): void {
    // undici parses no two responses at a time, and this may be called while it parses another
    queueMicrotask(() => {
      if (this.isReading) this.#controller?.resume()
    })
  }
}

/** The text of a part of a header, whose value undici leaves with the blanks behind it. */
const text = (bytes: Buffer): string => {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1] === 0x20 || bytes[end - 1] === 0x09)) end--
  return bytes.toString('latin1', 0, end)
}

/** The gateway asks for no coding but chunks, and undici undoes no other: it would pass as the body. */
const isCoded = (headers: readonly string[]): boolean => {
  let codings = ''
  for (let index = 0; index < headers.length; index += 2)
    if (headers[index]?.length === 17 && headers[index]?.toLowerCase() === 'transfer-encoding')
      codings += `,${headers[index + 1]}`
  return codings !== '' && codings.toLowerCase() !== ',chunked'
}

const joined = (pieces: readonly Buffer[]): Buffer => {
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}

const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/**
 * The head of a request, with the `content-length` and `connection` that the caller left out behind the rest. Throws TypeError for a
 * length that is not the body's; undici refuses the rest of what HTTP forbids.
 */
const requestHead = ({ method, path, headers, body }: UpstreamRequest): string => {
  const length = body?.length ?? 0
  let text = `${method} ${path} HTTP/1.1\r\n`
  let contentLength: string | undefined
  let connection = 'Connection: keep-alive\r\n'
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    if (isNamed(name, 'content-length')) contentLength = value
    else if (isNamed(name, 'connection')) connection = ''
    text += `${name}: ${value}\r\n`
  }
  if (contentLength !== undefined && Number(contentLength) !== length)
    throw new TypeError('content-length is not the length of the body')
  return `${text}${contentLength === undefined ? lengthLine(method, length) : ''}${connection}\r\n`
}

const lengthLine = (method: string, length: number): string =>
  length > 0 || !BODILESS.has(method) ? `Content-Length: ${length}\r\n` : ''

const isNamed = (name: string, other: string): boolean => name.length === other.length && name.toLowerCase() === other
