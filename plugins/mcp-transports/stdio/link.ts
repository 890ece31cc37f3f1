import { cancelledKey, type Frame, type FrameFault, keyOfId, readFrame, roundedKey } from 'guard-gateway/lib/json-rpc'
import type { Lost, McpLink, McpReply, McpServer, McpSession, StreamEvent } from 'guard-gateway/lib/mcp-transport'
import { answeredId } from './answered-id.ts'
import { Child } from './child.ts'
import { Exchange } from './exchange.ts'
import { Exchanges, tokenOf } from './exchanges.ts'
import { Queue } from './queue.ts'
import { SessionSetup } from './session-setup.ts'

/** How many messages are kept for a client that does not listen yet. */
const WAITING = 256
/** While more messages than this are unread, the child's output is paused. */
const HIGH = 64

/** The way to a server that is a child process, one for each session. */
export const openStdioLink = async (server: McpServer, session: McpSession): Promise<McpLink> =>
  new StdioLink(server, session)

class StdioLink implements McpLink {
  readonly lost: Promise<Lost>
  readonly #server: McpServer
  readonly #session: McpSession
  /** Undefined while the session is not in use. */
  #child: Child | undefined
  readonly #lose: (lost: Lost) => void
  readonly #setup = new SessionSetup()
  #resting: Promise<void> | undefined
  #waking: Promise<void> | undefined
  #over = false
  readonly #exchanges = new Exchanges()
  readonly #unsolicited: Queue<StreamEvent>
  #noisy = false
  #listening = false

  constructor(server: McpServer, session: McpSession) {
    this.#server = server
    this.#session = session
    this.#unsolicited = this.#queue()
    const { promise, resolve } = Promise.withResolvers<Lost>()
    this.lost = promise
    this.#lose = resolve
    this.#start()
  }

  #start(): Child {
    const session = this.#session
    const child = new Child(this.#server, {
      limit: session.frame_bytes,
      onLine: (line) => this.#line(line),
      onTooLong: (ends) => this.#tooLong(answeredId(ends)),
      onStderr: (bytes) => session.stderr(bytes),
    })
    this.#child = child
    // the end of a child that was stopped for idleness does not end the session
    void child.lost.then((lost) => {
      if (this.#child === child) this.#ended(lost)
    })
    return child
  }

  /** Ends the child while the session is not in use; the next message of the client starts another. False: it is in use. */
  rest(): boolean {
    const child = this.#child
    const isIdle = this.#exchanges.size === 0 && !this.#listening && this.#waking === undefined
    if (child === undefined || !isIdle || this.#session.merged || !this.#setup.isComplete) return false
    this.#child = undefined
    this.#resting = child.end()
    return true
  }

  get runs(): boolean {
    return this.#child !== undefined
  }

  /** The child; if there is none, a new one with the session set up. */
  async #awake(): Promise<Child | undefined> {
    if (this.#child === undefined && !this.#over) {
      this.#waking ??= this.#wake().finally(() => {
        this.#waking = undefined
      })
    }
    if (this.#waking !== undefined) await this.#waking
    return this.#child
  }

  async #wake(): Promise<void> {
    await this.#resting
    if (this.#over) return
    const child = this.#start()
    const refused = await this.#setup.replay(child)
    if (refused === undefined) return
    await child.end()
    this.#ended({ reason: refused, exit_code: 1 })
  }

  async post(frame: Frame): Promise<McpReply> {
    const child = this.#child === undefined || this.#waking !== undefined ? await this.#awake() : this.#child
    if (child === undefined || child.ended) return failed(await this.lost)
    this.#setup.note(frame)
    if (frame.kind !== 'request' || this.#session.merged) {
      await child.send(frame.raw)
      this.#exchanges.take(cancelledKey(frame) ?? '')?.cancel()
      return { form: 'none', status: 202 }
    }
    const exchange = new Exchange(frame.key ?? '', tokenOf(frame), this.#queue())
    this.#exchanges.add(exchange)
    await child.send(frame.raw)
    return exchange.reply
  }

  async listen(lastEventId?: string): Promise<McpReply> {
    // nothing here has an id, so nothing can be asked for again
    if (lastEventId !== undefined) return { form: 'none', status: 405 }
    if (this.#listening) return alreadyListening
    this.#listening = true
    await this.#awake()
    const left = new AbortController()
    const stop = () => {
      if (left.signal.aborted) return
      left.abort()
      this.#listening = false
      this.#child?.resume()
    }
    return { form: 'sse', events: this.#unsolicited.read(left.signal), stop }
  }

  async end(): Promise<void> {
    if (this.#child !== undefined) return this.#child.end()
    this.#ended({ reason: 'Upstream server was ended', exit_code: 0 })
    await this.#resting
  }

  #queue(): Queue<StreamEvent> {
    return new Queue(() => this.#child?.resume())
  }

  #line(line: Buffer): void {
    const frame = readFrame(line, 'server')
    if (frame.kind !== 'fault') this.#route({ frame }, frame)
    else if (frame.id === undefined) this.#noise()
    else this.#invalidMessage(frame)
  }

  #noise(): void {
    this.#session.dropped('noise')
    if (this.#noisy) return
    this.#noisy = true
    this.#session.notice('The server writes to its standard output what is no MCP message; such lines are dropped.')
  }

  #tooLong(id: string | undefined): void {
    this.#session.dropped('overflow')
    const message = `The server sent a message larger than ${this.#session.frame_bytes} bytes.`
    this.#session.notice(message)
    this.#invalidMessage({ kind: 'fault', code: -32600, message, ...(id === undefined ? {} : { id }) })
  }

  /** A message is invalid: the request that it answers, if that is known, gets the fault. */
  #invalidMessage(fault: FrameFault): void {
    const { id } = fault
    const exchange = this.#exchanges.take(id === undefined ? (this.#exchanges.only()?.key ?? '') : keyOfId(id))
    if (exchange === undefined) this.#give(this.#unsolicited, { fault })
    else exchange.answer({ fault })
  }

  #route(event: StreamEvent, frame: Frame): void {
    if (frame.kind === 'response' && !this.#session.merged) this.#answered(event, frame.key ?? '')
    else this.#give(this.#exchanges.related(frame)?.stream() ?? this.#unsolicited, event)
  }

  /** No stream but that of its request may bring an answer. */
  #answered(event: StreamEvent, key: string): void {
    if (!this.#exchanges.has(key) && this.#setup.consumes(event.frame)) return
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
    } else if (queue.size > HIGH) this.#child?.pause()
  }

  #ended(lost: Lost): void {
    if (this.#over) return
    this.#over = true
    for (const exchange of this.#exchanges.takeAll()) exchange.fail(failed(lost))
    this.#unsolicited.end()
    this.#lose(lost)
  }
}

const alreadyListening: McpReply = {
  ...{ form: 'failed', status: 409, code: 'UPSTREAM_FAILED' },
  message: 'The MCP server has a stream open for this session already.',
}

const failed = ({ reason }: Lost): McpReply & { form: 'failed' } => ({
  form: 'failed',
  status: 502,
  code: 'UPSTREAM_UNREACHABLE',
  message: `${reason}.`,
})
