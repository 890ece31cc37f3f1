import { type JsonValue, memberIn, sourceOf } from '#lib/json'
import { type Frame, type FrameFault, keyOfId, roundedKey } from '#lib/json-rpc'
import type { Lost, McpReply, McpSession, StreamEvent } from './types.ts'

/** How many messages are kept for a client that does not listen yet. */
const WAITING = 256
/** While more messages than this are unread, the server is made to wait. */
const HIGH = 64

/** Where the messages of a server come from. */
export interface Source {
  pause(): void
  resume(): void
  /** Whether a message answers what the proxy itself has sent; then the client must not get it. */
  consumes?(frame: Frame | undefined): boolean
}

/** The messages of a server that sends all of them in one stream: each goes to the request that it belongs to, or to whoever listens. */
export class ServerChannel {
  readonly #session: McpSession
  readonly #source: Source
  readonly #exchanges = new Exchanges()
  readonly #unsolicited: Queue<StreamEvent>
  #listening = false

  constructor(session: McpSession, source: Source) {
    this.#session = session
    this.#source = source
    this.#unsolicited = this.#queue()
  }

  /** No request waits, and nobody listens. */
  get isIdle(): boolean {
    return this.#exchanges.size === 0 && !this.#listening
  }

  /** Waits for the answer to a request that is about to be sent. */
  begin(frame: Frame): Exchange {
    const exchange = new Exchange(frame.key ?? '', tokenOf(frame), this.#queue())
    this.#exchanges.add(exchange)
    return exchange
  }

  /** The exchange of a request, which is over with that. */
  take(key: string): Exchange | undefined {
    return this.#exchanges.take(key)
  }

  /** What the server says unasked. */
  listen(): McpReply {
    if (this.#listening) return alreadyListening
    this.#listening = true
    const left = new AbortController()
    const stop = () => {
      if (left.signal.aborted) return
      left.abort()
      this.#listening = false
      this.#source.resume()
    }
    return { form: 'sse', events: this.#unsolicited.read(left.signal), stop }
  }

  /** Takes one message of the server. */
  message(frame: Frame): void {
    if (frame.kind === 'response' && !this.#session.merged) this.#answered({ frame }, frame.key ?? '')
    else this.#give(this.#exchanges.related(frame)?.stream() ?? this.#unsolicited, { frame })
  }

  /** A message is invalid: the request that it answers, if that is known, gets the fault. */
  invalidMessage(fault: FrameFault): void {
    const { id } = fault
    const exchange = this.#exchanges.take(id === undefined ? (this.#exchanges.only()?.key ?? '') : keyOfId(id))
    if (exchange === undefined) this.#give(this.#unsolicited, { fault })
    else exchange.answer({ fault })
  }

  /** No request that waits gets an answer any more. */
  fail(reply: McpReply & { form: 'failed' }): void {
    for (const exchange of this.#exchanges.takeAll()) exchange.fail(reply)
  }

  /** Nothing more comes at all. */
  end(reply: McpReply & { form: 'failed' }): void {
    this.fail(reply)
    this.#unsolicited.end()
  }

  #queue(): Queue<StreamEvent> {
    return new Queue(() => this.#source.resume())
  }

  /** No stream but that of its request may bring an answer. */
  #answered(event: StreamEvent, key: string): void {
    if (!this.#exchanges.has(key) && this.#source.consumes?.(event.frame) === true) return
    const exchange = this.#exchanges.take(key) ?? this.#exchanges.take(roundedKey(this.#exchanges.keys(), key) ?? '')
    if (exchange === undefined) this.#session.dropped('unknown_id')
    else exchange.answer(event)
  }

  #give(queue: Queue<StreamEvent>, event: StreamEvent): void {
    queue.push(event)
    if (queue === this.#unsolicited && !this.#listening && !this.#session.merged) {
      if (queue.size <= WAITING) return
      queue.shift()
      this.#session.dropped('overflow')
    } else if (queue.size > HIGH) this.#source.pause()
  }
}

const alreadyListening: McpReply = {
  ...{ form: 'failed', status: 409, code: 'UPSTREAM_FAILED' },
  message: 'The MCP server has a stream open for this session already.',
}

/** The requests of a client that its server has not answered yet. */
class Exchanges {
  readonly #byKey = new Map<string, Exchange>()
  readonly #byToken = new Map<string, Exchange>()

  get size(): number {
    return this.#byKey.size
  }

  add(exchange: Exchange): void {
    this.#byKey.set(exchange.key, exchange)
    if (exchange.token !== undefined) this.#byToken.set(exchange.token, exchange)
  }

  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  keys(): Iterable<string> {
    return this.#byKey.keys()
  }

  /** The exchange of a request, which is over with that. */
  take(key: string): Exchange | undefined {
    const exchange = this.#byKey.get(key)
    this.#byKey.delete(key)
    if (exchange?.token !== undefined) this.#byToken.delete(exchange.token)
    return exchange
  }

  /** The one exchange where there is no other. */
  only(): Exchange | undefined {
    const [only] = this.size === 1 ? this.#byKey.values() : []
    return only
  }

  /** The call that a message of the server belongs to, as far as that is known. */
  related(frame: Frame): Exchange | undefined {
    if (frame.method === 'notifications/progress')
      return this.#byToken.get(textOf(frame, frame.params, 'progressToken') ?? '')
    return frame.kind === 'request' ? this.only() : undefined
  }

  /** Takes all, each to be failed. */
  takeAll(): readonly Exchange[] {
    const all = [...this.#byKey.values()]
    this.#byKey.clear()
    this.#byToken.clear()
    return all
  }
}

/** The progress token of a request. */
const tokenOf = (frame: Frame): string | undefined =>
  textOf(frame, memberIn(frame.params, '_meta')?.value, 'progressToken')

const textOf = ({ text }: Frame, value: JsonValue | undefined, name: string): string | undefined => {
  const member = memberIn(value, name)
  return member === undefined ? undefined : sourceOf(text, member.value)
}

/** A request on its way: its answer alone, or a stream from the first message that comes before the answer. */
class Exchange {
  readonly key: string
  readonly token: string | undefined
  readonly reply: Promise<McpReply>
  readonly #resolve: (reply: McpReply) => void
  readonly #queue: Queue<StreamEvent>
  #streaming = false

  constructor(key: string, token: string | undefined, queue: Queue<StreamEvent>) {
    this.key = key
    this.token = token
    this.#queue = queue
    const { promise, resolve } = Promise.withResolvers<McpReply>()
    this.reply = promise
    this.#resolve = resolve
  }

  /** Where messages before the answer go. */
  stream(): Queue<StreamEvent> {
    if (!this.#streaming) {
      this.#streaming = true
      this.#resolve({ form: 'sse', events: this.#queue, stop: () => this.#queue.end() })
    }
    return this.#queue
  }

  /** The last message; an error in it is reported as in a stream. */
  answer(event: StreamEvent): void {
    if (event.fault !== undefined) this.stream()
    if (this.#streaming) {
      this.#queue.push(event)
      this.#queue.end()
    } else this.#resolve({ form: 'json', status: 200, event })
  }

  /** Nobody waits for an answer any more. */
  cancel(): void {
    if (this.#streaming) this.#queue.end()
    else this.#resolve({ form: 'none', status: 202 })
  }

  /** There will be no answer. */
  fail(reply: McpReply & { form: 'failed' }): void {
    if (this.#streaming) this.#queue.end(new Error(reply.message))
    else this.#resolve(reply)
  }
}

/** A queue that is read as an async iterator. `onLow` is called when it runs empty. */
class Queue<T> implements AsyncIterable<T> {
  readonly #ready: T[] = []
  readonly #onLow: () => void
  #waiting: PromiseWithResolvers<void> | undefined
  #ended = false
  #failure: Error | undefined

  constructor(onLow: () => void = () => {}) {
    this.#onLow = onLow
  }

  get size(): number {
    return this.#ready.length
  }

  push(thing: T): void {
    if (this.#ended) return
    this.#ready.push(thing)
    this.#wake()
  }

  /** Drops the oldest thing. */
  shift(): void {
    this.#ready.shift()
  }

  /** Nothing follows; an error is given to the reader after the last thing. */
  end(failure?: Error): void {
    this.#ended = true
    this.#failure ??= failure
    this.#wake()
  }

  [Symbol.asyncIterator](): AsyncGenerator<T> {
    return this.read()
  }

  /** The things from now on until `signal`; what is left then is for who reads next. One reads at a time. */
  async *read(signal?: AbortSignal): AsyncGenerator<T> {
    signal?.addEventListener('abort', () => this.#wake(), { once: true })
    while (signal?.aborted !== true) {
      const next = this.#ready.shift()
      if (next !== undefined) {
        yield next
        continue
      }
      this.#onLow()
      if (this.#failure !== undefined) throw this.#failure
      if (this.#ended) return
      this.#waiting = Promise.withResolvers<void>()
      await this.#waiting.promise
    }
  }

  #wake(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}

/** Subscriptions that are remembered. */
const MAX_SUBSCRIPTIONS = 1_000

/** A server that messages are sent to, until it is lost. */
export interface Receiver {
  readonly lost: Promise<Lost>
  send(message: Buffer): Promise<void>
}

/** The messages that set a session up: `initialize`, the log level and subscriptions. They are sent again to what takes the session up. */
export class SessionSetup {
  #initialize: Frame | undefined
  #initialized: Frame | undefined
  #level: Frame | undefined
  readonly #subscriptions = new Map<string, Frame>()
  readonly #answers = new Map<string, (frame: Frame) => void>()

  note(frame: Frame): void {
    const { method } = frame
    if (method === 'initialize') this.#initialize = frame
    else if (method === 'notifications/initialized') this.#initialized = frame
    else if (method === 'logging/setLevel') this.#level = frame
    else if (method === 'resources/unsubscribe') this.#subscriptions.delete(uriOf(frame))
    else if (method === 'resources/subscribe' && this.#subscriptions.size < MAX_SUBSCRIPTIONS)
      this.#subscriptions.set(uriOf(frame), frame)
  }

  /** The session is initialized, so that another receiver can take it up. */
  get isComplete(): boolean {
    return this.#initialize !== undefined && this.#initialized !== undefined
  }

  /** Sends all of them; resolves to the reason if the receiver does not take the session up. */
  async replay(receiver: Receiver): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<Frame>()
    if (this.#initialize === undefined) return 'The session has not begun'
    this.#answers.set(this.#initialize.key ?? '', resolve)
    await receiver.send(this.#initialize.raw)
    const answer = await Promise.race([promise, receiver.lost])
    if ('reason' in answer) return answer.reason
    if (answer.error !== undefined) return 'Upstream server refused to take the session up again'
    for (const frame of [this.#initialized, this.#level, ...this.#subscriptions.values()]) {
      if (frame === undefined) continue
      if (frame.key !== undefined) this.#answers.set(frame.key, () => {})
      await receiver.send(frame.raw)
    }
    return undefined
  }

  /** Whether a message answers a repeated one; then the client must not get it. */
  consumes(frame: Frame | undefined): boolean {
    const { key = '' } = frame ?? {}
    const resolve = this.#answers.get(key)
    if (frame === undefined || resolve === undefined) return false
    this.#answers.delete(key)
    resolve(frame)
    return true
  }
}

const uriOf = ({ text, params }: Frame): string => {
  const uri = memberIn(params, 'uri')
  return uri === undefined ? '' : sourceOf(text, uri.value)
}
