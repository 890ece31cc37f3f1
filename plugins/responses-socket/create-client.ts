import type { Call, Client, Reply } from 'guard-gateway/core'
import type { InFlightClient } from 'guard-gateway/lib/http'
import { EventSplitter } from 'guard-gateway/lib/sse'
import { errorEvent } from './error-event.ts'
import { EventBody } from './event-body.ts'

/** The connection that a request came on, as its client needs it. */
export interface ClientSide {
  /** Sends a message of ours, or of a plugin that answers instead of the upstream. */
  send(message: Buffer): void
  blockStatus(status: number): number
}

/** What answers a request instead of the upstream. */
interface LocalAnswer {
  readonly status: number
  readonly headers: readonly string[]
  readonly chunks: Uint8Array[]
}

/** One request of a connection, and what becomes of it. Messages of the upstream do not go through it. */
export class CreateClient implements Client, InFlightClient {
  gone = false
  interrupted = false
  call: Call | undefined
  status = 0
  bytes = 0
  held = 0
  index = -1
  readonly stream_id: string | undefined
  readonly body = new EventBody()
  /** What its call is answered with, once it was sent; the status becomes that of an error that ends it. */
  reply: { -readonly [K in keyof Reply]: Reply[K] } | undefined
  /** Id of its response, once that is known. */
  response_id: string | undefined
  /** It has ended for the client while the upstream goes on: what still comes is dropped. */
  isMuted = false
  /** It was sent to the upstream, or answered otherwise. */
  readonly decided: Promise<void>
  /** It is settled: its record is safe. */
  readonly ended: Promise<void>
  #markDecided: () => void
  #markEnded: () => void
  readonly #side: ClientSide
  readonly #gone: (() => void)[] = []
  #isForwarded = false
  #local: LocalAnswer | undefined

  constructor(side: ClientSide, stream_id: string | undefined) {
    this.#side = side
    this.stream_id = stream_id
    const decided = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    this.decided = decided.promise
    this.ended = ended.promise
    this.#markDecided = decided.resolve
    this.#markEnded = ended.resolve
  }

  /** It goes up now. */
  forwarded(): void {
    this.#isForwarded = true
    this.#markDecided()
  }

  /** Nothing more becomes of it. */
  over(): void {
    this.#markDecided()
    this.#markEnded()
  }

  /** The client has left. */
  leave(): void {
    if (this.gone) return
    this.gone = true
    for (const listener of this.#gone) listener()
    this.#gone.length = 0
  }

  interrupt(): void {
    if (this.gone) return
    this.interrupted = true
    this.leave()
  }

  head(status: number, headers: readonly string[]): void {
    this.status = status
    if (!this.#isForwarded) this.#local = { status, headers, chunks: [] }
  }

  write(chunk: Uint8Array): boolean {
    this.bytes += chunk.length
    this.#local?.chunks.push(chunk)
    return true
  }

  end(last?: Uint8Array): void {
    if (last !== undefined) {
      this.bytes += last.length
      if (this.#local !== undefined) this.#local.chunks.push(last)
      else if (this.isMuted) this.#sendEvents(last)
    }
    if (this.#local !== undefined) this.#answer(this.#local)
    this.over()
  }

  cut(): void {
    if (this.#local !== undefined) this.#answer(this.#local)
    this.over()
  }

  // the connection is held back as a whole
  onDrain(): void {}

  onGone(listener: () => void): void {
    if (this.gone) listener()
    else this.#gone.push(listener)
  }

  blockStatus(status: number): number {
    return this.#side.blockStatus(status)
  }

  /** An answer that is none of the upstream's messages: an error of ours, or what a plugin answers. */
  #answer({ status, headers, chunks }: LocalAnswer): void {
    this.#local = undefined
    if (this.gone) return
    const body = Buffer.concat(chunks)
    const value = parsed(body)
    if (status < 400 && value === undefined) this.#sendEvents(body)
    else if (status >= 400) this.#side.send(errorEvent({ status, body: value, headers, stream_id: this.stream_id }))
    else this.#side.send(Buffer.from(JSON.stringify({ type: 'response.completed', response: value, ...this.#lane })))
  }

  get #lane(): { readonly stream_id?: string } {
    return this.stream_id === undefined ? {} : { stream_id: this.stream_id }
  }

  /** Sends the events of a stream as messages, without the mark that ends some streams. */
  #sendEvents(stream: Uint8Array): void {
    if (this.gone) return
    const splitter = new EventSplitter((bytes, start, end) => {
      const data = Buffer.from(bytes.subarray(start, end))
      if (data.length > 0 && !data.equals(DONE)) this.#side.send(data)
    })
    splitter.push(stream)
    splitter.end()
  }
}

const DONE = Buffer.from('[DONE]')

const parsed = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString()) as unknown
  } catch {
    return undefined
  }
}
