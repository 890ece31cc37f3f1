import { cancelledKey, type Frame, readFrame } from 'guard-gateway/lib/json-rpc'
import {
  type Lost,
  type McpLink,
  type McpReply,
  type McpServer,
  type McpSession,
  ServerChannel,
  SessionSetup,
} from 'guard-gateway/lib/mcp-transport'
import { answeredId } from './answered-id.ts'
import { Child } from './child.ts'

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
  readonly #channel: ServerChannel
  #noisy = false

  constructor(server: McpServer, session: McpSession) {
    this.#server = server
    this.#session = session
    this.#channel = new ServerChannel(session, {
      pause: () => this.#child?.pause(),
      resume: () => this.#child?.resume(),
      consumes: (frame) => this.#setup.consumes(frame),
    })
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
    const isIdle = this.#channel.isIdle && this.#waking === undefined
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
      this.#channel.take(cancelledKey(frame) ?? '')?.cancel()
      return { form: 'none', status: 202 }
    }
    const exchange = this.#channel.begin(frame)
    await child.send(frame.raw)
    return exchange.reply
  }

  async listen(lastEventId?: string): Promise<McpReply> {
    // nothing here has an id, so nothing can be asked for again
    if (lastEventId !== undefined) return { form: 'none', status: 405 }
    const reply = this.#channel.listen()
    if (reply.form === 'sse') await this.#awake()
    return reply
  }

  async end(): Promise<void> {
    if (this.#child !== undefined) return this.#child.end()
    this.#ended({ reason: 'Upstream server was ended', exit_code: 0 })
    await this.#resting
  }

  #line(line: Buffer): void {
    const frame = readFrame(line, 'server')
    if (frame.kind !== 'fault') this.#channel.message(frame)
    else if (frame.id === undefined) this.#noise()
    else this.#channel.invalidMessage(frame)
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
    this.#channel.invalidMessage({ kind: 'fault', code: -32600, message, ...(id === undefined ? {} : { id }) })
  }

  #ended(lost: Lost): void {
    if (this.#over) return
    this.#over = true
    this.#channel.end(failed(lost))
    this.#lose(lost)
  }
}

const failed = ({ reason }: Lost): McpReply & { form: 'failed' } => ({
  form: 'failed',
  status: 502,
  code: 'UPSTREAM_UNREACHABLE',
  message: `${reason}.`,
})
