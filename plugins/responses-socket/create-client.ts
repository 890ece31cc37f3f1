import type { BodyReader, Call, Client, PushedBody, Reply } from 'guard-gateway/core'
import type { InFlightClient } from '#lib/http'
import { EventSplitter } from '#lib/sse'
import { errorEvent } from './error-event.ts'

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

const LF = 10
const CR = 13
const BLANK = 32
const BEFORE = Buffer.from('data: ')
const AFTER = Buffer.from('\n\n')

/** A message as an event of a stream, for whoever reads streams: its line breaks, which in JSON stand between values alone, become blanks. */
const asStreamEvent = (message: Buffer): Buffer => {
  const event = Buffer.allocUnsafe(BEFORE.length + message.length + AFTER.length)
  BEFORE.copy(event)
  message.copy(event, BEFORE.length)
  AFTER.copy(event, BEFORE.length + message.length)
  const end = BEFORE.length + message.length
  if (message.includes(LF) || message.includes(CR))
    for (let at = BEFORE.length; at < end; at++) if (event[at] === LF || event[at] === CR) event[at] = BLANK
  return event
}

/** The messages of one response as the body that its call is metered and recorded by. They reach the client beside it. */
class EventBody implements PushedBody {
  #reader: BodyReader | undefined
  readonly #early: Buffer[] = []
  #end: 'end' | 'cut' | undefined
  /** Its reader wants no more: the client has left, or a listener has ended the response. */
  isDestroyed = false

  push(message: Buffer): void {
    if (this.isDestroyed || this.#end !== undefined) return
    const event = asStreamEvent(message)
    if (this.#reader === undefined) this.#early.push(event)
    else this.#reader.data(event)
  }

  /** The response is over, or broke off. */
  finish(how: 'end' | 'cut'): void {
    if (this.isDestroyed || this.#end !== undefined) return
    this.#end = how
    this.#reader?.[how]()
  }

  read(reader: BodyReader): void {
    this.#reader = reader
    for (const event of this.#early) if (!this.isDestroyed) reader.data(event)
    this.#early.length = 0
    if (this.#end !== undefined && !this.isDestroyed) reader[this.#end]()
  }

  // a connection is held back as a whole, not one of its responses
  pause(): void {}
  resume(): void {}

  destroy(): void {
    this.isDestroyed = true
  }
}
