import type { BodyReader, PushedBody } from 'guard-gateway/core'
import type { Exchange, UpstreamListener } from 'guard-gateway/lib/upstream-client'
import type { Connection, ConnectionHandler } from './connection.ts'
import { ConnectionClosed } from './errors.ts'
import { type BodySink, type Framing, framingOf } from './framing.ts'
import { HeadReader } from './head-reader.ts'
import type { EncodedRequest } from './request-encoder.ts'
import type { ResponseHead } from './response-head.ts'

/** No final head yet. */
const AWAITING_HEAD = 0
/** The head is parsed, the body is being read. */
const READING_BODY = 1
const COMPLETE = 2
const FAILED = 3
/** The reader does not want the rest. */
const CANCELLED = 4

/** What an exchange needs of its connection. */
export type ExchangeConnection = Pick<Connection, 'send' | 'pause' | 'resume' | 'release' | 'destroy'>

/** One request and its response on a connection. A body that arrives together with its head is passed as a buffer; any other is pushed. */
export class Http1Exchange implements Exchange, PushedBody, BodySink, ConnectionHandler {
  /** Undefined until the end of the event loop's turn in which the request was made. */
  #connection: ExchangeConnection | undefined
  readonly #listener: UpstreamListener
  readonly #method: string
  readonly #closes: boolean
  readonly #headReader = new HeadReader()
  #framing: Framing | undefined
  #keepAliveMs = 0
  /** Chunks that arrived before there was a reader. */
  #buffered: Buffer[] = []
  #reader: BodyReader | undefined
  #isPaused = false
  #isAnswered = false
  #state = AWAITING_HEAD

  constructor(listener: UpstreamListener, method: string, closes: boolean) {
    this.#listener = listener
    this.#method = method
    this.#closes = closes
  }

  /** The exchange has ended, with or without a response. */
  get isOver(): boolean {
    return this.#state > READING_BODY
  }

  /** Sends the request on this connection. */
  start(connection: ExchangeConnection, bytes: EncodedRequest): void {
    this.#connection = connection
    connection.send(this, bytes)
  }

  stop(reason: Error): void {
    this.#fail(reason)
  }

  received(bytes: Buffer): void {
    try {
      if (this.#framing === undefined) this.#readHead(bytes)
      else this.#readBody(this.#framing, bytes)
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  sent(): void {
    this.#listener.sent?.()
  }

  ended(): void {
    if (this.#framing?.endsWithConnection === true) this.#finish(0)
    else this.#fail(new ConnectionClosed())
  }

  failed(error: Error): void {
    this.#fail(error)
  }

  idle(): void {
    if (this.#reader !== undefined && !this.#isPaused) this.#fail(new Error('the upstream was silent'))
  }

  chunk(bytes: Buffer): void {
    if (this.#reader !== undefined) this.#reader.data(bytes)
    else if (this.#state === READING_BODY) this.#buffered.push(bytes)
  }

  read(reader: BodyReader): void {
    this.#reader = reader
    const buffered = this.#buffered
    this.#buffered = []
    for (const bytes of buffered) this.#reader?.data(bytes)
    if (this.#state === COMPLETE) reader.end()
    else if (this.#state === FAILED) reader.cut()
    else if (this.#state === READING_BODY && !this.#isPaused) this.#connection?.resume()
  }

  pause(): void {
    this.#isPaused = true
    if (this.#state === READING_BODY) this.#connection?.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#state === READING_BODY) this.#connection?.resume()
  }

  destroy(): void {
    this.#reader = undefined
    this.#buffered = []
    if (this.#state !== READING_BODY) return
    this.#state = CANCELLED
    this.#connection?.destroy()
    this.#notifyOver()
  }

  #readHead(bytes: Buffer): void {
    const head = this.#headReader.push(bytes)
    if (head === undefined) return
    this.#startBody(head)
    try {
      this.#readBody(framingOf(head, this.#method), this.#headReader.rest)
    } catch (error) {
      // the head is valid, so the listener gets it; the body is cut
      this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
    const body = this.#state === COMPLETE ? joined(this.#buffered) : this
    this.#isAnswered = true
    this.#listener.answered({ status: head.status, headers: head.headers, body })
    if (this.#state !== READING_BODY) this.#notifyOver()
  }

  #startBody({ isReusable, keep_alive_ms }: ResponseHead): void {
    this.#state = READING_BODY
    this.#keepAliveMs = isReusable && !this.#closes ? keep_alive_ms : 0
  }

  #readBody(framing: Framing, bytes: Buffer): void {
    this.#framing = framing
    const used = framing.push(bytes, this)
    if (framing.isDone) this.#finish(used === bytes.length ? this.#keepAliveMs : 0)
    else if (this.#isAnswered && this.#reader === undefined) this.#connection?.pause()
  }

  #finish(keepAliveMs: number): void {
    if (this.#state !== READING_BODY) return
    this.#state = COMPLETE
    this.#connection?.release(keepAliveMs)
    this.#reader?.end()
    this.#notifyOver()
  }

  #fail(error: Error): void {
    if (this.isOver) return
    const isWaiting = this.#state === AWAITING_HEAD
    this.#state = FAILED
    this.#connection?.destroy()
    if (isWaiting) {
      this.#isAnswered = true
      this.#listener.failed(error)
    } else this.#reader?.cut()
    this.#notifyOver()
  }

  #notifyOver(): void {
    if (this.#isAnswered) this.#listener.over()
  }
}

const joined = (pieces: readonly Buffer[]): Buffer => {
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}
