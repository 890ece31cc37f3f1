import type { BodyReader, Exchange, PushedBody, UpstreamListener } from 'guard-gateway/core'
import type { Cargo, Connection } from './connection.ts'
import { HangUp } from './fault.ts'
import { type Framing, framingOf, type Sink } from './framing.ts'
import { HeadReader } from './head-reader.ts'
import type { RequestBytes } from './request-bytes.ts'
import type { ResponseHead } from './response-head.ts'

/** No final head yet. */
const WAITING = 0
/** The head is told, the body comes. */
const FLOWING = 1
const WHOLE = 2
const BROKEN = 3
/** Nobody wants the rest. */
const DROPPED = 4

/** One request and its answer on a connection. A body that comes together with its head is told whole; any other is pushed. */
export class Transfer implements Exchange, PushedBody, Sink, Cargo {
  /** Undefined until the end of the turn in which it was asked for. */
  #connection: Connection | undefined
  readonly #listener: UpstreamListener
  readonly #method: string
  readonly #closes: boolean
  readonly #heads = new HeadReader()
  #framing: Framing | undefined
  #keptMs = 0
  /** What has come before anybody reads. */
  #early: Buffer[] = []
  #reader: BodyReader | undefined
  #isPaused = false
  #isAnswered = false
  #state = WAITING

  constructor(listener: UpstreamListener, method: string, closes: boolean) {
    this.#listener = listener
    this.#method = method
    this.#closes = closes
  }

  /** Nobody waits for the answer any more. */
  get isOver(): boolean {
    return this.#state > FLOWING
  }

  /** Goes out on this connection. */
  begin(connection: Connection, bytes: RequestBytes): void {
    this.#connection = connection
    connection.carry(this, bytes)
  }

  stop(reason: Error): void {
    this.#fail(reason)
  }

  take(bytes: Buffer): void {
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
    else this.#fail(new HangUp())
  }

  lost(error: Error): void {
    this.#fail(error)
  }

  silent(): void {
    if (this.#reader !== undefined && !this.#isPaused) this.#fail(new Error('the upstream was silent'))
  }

  piece(bytes: Buffer): void {
    if (this.#reader !== undefined) this.#reader.data(bytes)
    else if (this.#state === FLOWING) this.#early.push(bytes)
  }

  read(reader: BodyReader): void {
    this.#reader = reader
    const early = this.#early
    this.#early = []
    for (const bytes of early) this.#reader?.data(bytes)
    if (this.#state === WHOLE) reader.end()
    else if (this.#state === BROKEN) reader.cut()
    else if (this.#state === FLOWING && !this.#isPaused) this.#connection?.resume()
  }

  pause(): void {
    this.#isPaused = true
    if (this.#state === FLOWING) this.#connection?.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#state === FLOWING) this.#connection?.resume()
  }

  destroy(): void {
    this.#reader = undefined
    this.#early = []
    if (this.#state !== FLOWING) return
    this.#state = DROPPED
    this.#connection?.destroy()
    this.#tellOver()
  }

  #readHead(bytes: Buffer): void {
    const head = this.#heads.push(bytes)
    if (head === undefined) return
    this.#flow(head)
    try {
      this.#readBody(framingOf(head, this.#method), this.#heads.rest)
    } catch (error) {
      // the head was sound, so it is told; the body will turn out broken
      this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
    const body = this.#state === WHOLE ? joined(this.#early) : this
    this.#isAnswered = true
    this.#listener.answered({ status: head.status, headers: head.headers, body })
    if (this.#state !== FLOWING) this.#tellOver()
  }

  #flow({ isKept, kept_ms }: ResponseHead): void {
    this.#state = FLOWING
    this.#keptMs = isKept && !this.#closes ? kept_ms : 0
  }

  #readBody(framing: Framing, bytes: Buffer): void {
    this.#framing = framing
    const used = framing.push(bytes, this)
    if (framing.isDone) this.#finish(used === bytes.length ? this.#keptMs : 0)
    else if (this.#isAnswered && this.#reader === undefined) this.#connection?.pause()
  }

  #finish(keptMs: number): void {
    if (this.#state !== FLOWING) return
    this.#state = WHOLE
    this.#connection?.release(keptMs)
    this.#reader?.end()
    this.#tellOver()
  }

  #fail(error: Error): void {
    if (this.isOver) return
    const isWaiting = this.#state === WAITING
    this.#state = BROKEN
    this.#connection?.destroy()
    if (isWaiting) {
      this.#isAnswered = true
      this.#listener.failed(error)
    } else this.#reader?.cut()
    this.#tellOver()
  }

  #tellOver(): void {
    if (this.#isAnswered) this.#listener.over()
  }
}

const joined = (pieces: readonly Buffer[]): Buffer => {
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}
