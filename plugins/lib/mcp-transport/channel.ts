import { type Frame, type FrameFault, keyOfId, roundedKey } from 'guard-gateway/lib/json-rpc'
import type { McpReply, McpSession, StreamEvent } from '../mcp-transport.ts'
import { Exchange } from './exchange.ts'
import { Exchanges, tokenOf } from './exchanges.ts'
import { Queue } from './queue.ts'

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
