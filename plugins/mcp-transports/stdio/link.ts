import type { Frame, FrameFault, Lost, McpLink, McpReply, McpServer, McpSession, StreamEvent } from 'guard-gateway/core'
import { cancelledKey, keyOfId, readFrame, roundedKey } from 'guard-gateway/lib/json-rpc'
import { answeredId } from './answered-id.ts'
import { Child } from './child.ts'
import { Exchange } from './exchange.ts'
import { Exchanges, tokenOf } from './exchanges.ts'
import { Queue } from './queue.ts'
import { SessionSetup } from './session-setup.ts'

/** How many messages wait for somebody who listens. */
const WAITING = 256
/** From how many messages that nobody took on the child is made to wait. */
const HIGH = 64

/** The way to a server that is a child process, one for each session. */
export const openStdioLink = async (server: McpServer, session: McpSession): Promise<McpLink> =>
  new StdioLink(server, session)

class StdioLink implements McpLink {
  readonly lost: Promise<Lost>
  readonly #server: McpServer
  readonly #session: McpSession
  /** Undefined while nobody uses the session. */
  #child: Child | undefined
  readonly #lose: (lost: Lost) => void
  readonly #begun = new SessionSetup()
  #resting: Promise<void> | undefined
  #waking: Promise<void> | undefined
  #over = false
  readonly #exchanges = new Exchanges()
  readonly #unasked: Queue<StreamEvent>
  #noisy = false
  #listening = false

  constructor(server: McpServer, session: McpSession) {
    this.#server = server
    this.#session = session
    this.#unasked = this.#queue()
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
    // one that was let go takes nothing along
    void child.lost.then((lost) => {
      if (this.#child === child) this.#ended(lost)
    })
    return child
  }

  /** Ends the child while nobody uses the session; the next message of the client starts another. False: it is in use. */
  rest(): boolean {
    const child = this.#child
    const isIdle = this.#exchanges.size === 0 && !this.#listening && this.#waking === undefined
    if (child === undefined || !isIdle || this.#session.merged || !this.#begun.isWhole) return false
    this.#child = undefined
    this.#resting = child.end()
    return true
  }

  get runs(): boolean {
    return this.#child !== undefined
  }

  /** The child; another one, told how the session began, if there is none. */
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
    const refused = await this.#begun.tell(child)
    if (refused === undefined) return
    await child.end()
    this.#ended({ reason: refused, exit_code: 1 })
  }

  async post(frame: Frame): Promise<McpReply> {
    const child = this.#child === undefined || this.#waking !== undefined ? await this.#awake() : this.#child
    if (child === undefined || child.ended) return failed(await this.lost)
    this.#begun.note(frame)
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
    if (this.#listening) return twice
    this.#listening = true
    await this.#awake()
    const left = new AbortController()
    const stop = () => {
      if (left.signal.aborted) return
      left.abort()
      this.#listening = false
      this.#child?.resume()
    }
    return { form: 'sse', events: this.#unasked.read(left.signal), stop }
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
    else this.#unplaced(frame)
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
    this.#unplaced({ kind: 'fault', code: -32600, message, ...(id === undefined ? {} : { id }) })
  }

  /** Something is wrong with a message: who waits for it learns so, as far as that can be told. */
  #unplaced(fault: FrameFault): void {
    const { id } = fault
    const meant = this.#exchanges.take(id === undefined ? (this.#exchanges.only()?.key ?? '') : keyOfId(id))
    if (meant === undefined) this.#give(this.#unasked, { fault })
    else meant.answer({ fault })
  }

  #route(event: StreamEvent, frame: Frame): void {
    if (frame.kind === 'response' && !this.#session.merged) this.#answered(event, frame.key ?? '')
    else this.#give(this.#exchanges.related(frame)?.stream() ?? this.#unasked, event)
  }

  /** No stream but that of its request may bring an answer. */
  #answered(event: StreamEvent, key: string): void {
    if (!this.#exchanges.has(key) && this.#begun.takes(event.frame)) return
    const exchange = this.#exchanges.take(key) ?? this.#exchanges.take(roundedKey(this.#exchanges.keys(), key) ?? '')
    if (exchange === undefined) this.#session.dropped('unknown_id')
    else exchange.answer(event)
  }

  #give(queue: Queue<StreamEvent>, event: StreamEvent): void {
    queue.push(event)
    if (queue === this.#unasked && !this.#listening && !this.#session.merged) {
      if (queue.size <= WAITING) return
      queue.shift()
      this.#session.dropped('overflow')
    } else if (queue.size > HIGH) this.#child?.pause()
  }

  #ended(lost: Lost): void {
    if (this.#over) return
    this.#over = true
    for (const exchange of this.#exchanges.takeAll()) exchange.fail(failed(lost))
    this.#unasked.end()
    this.#lose(lost)
  }
}

const twice: McpReply = {
  ...{ form: 'failed', status: 409, code: 'UPSTREAM_FAILED' },
  message: 'The MCP server has a stream open for this session already.',
}

const failed = ({ reason }: Lost): McpReply & { form: 'failed' } => ({
  form: 'failed',
  status: 502,
  code: 'UPSTREAM_UNREACHABLE',
  message: `${reason}.`,
})
