import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import {
  type Lost,
  type McpLink,
  type McpReply,
  type McpServer,
  type McpSession,
  ServerChannel,
  SessionSetup,
} from 'guard-gateway/lib/mcp-transport'
import { cancelledKey, type Frame, type LineEnds, LineReader, LineWriter, readFrame } from '#lib/json-rpc'

/** The way to a server that is a child process, one for each session. */
export const openStdioLink = async (server: McpServer, session: McpSession): Promise<McpLink> =>
  new StdioLink(server, session)

class StdioLink implements McpLink {
  readonly #lost = Promise.withResolvers<Lost>()
  readonly lost = this.#lost.promise
  readonly #server: McpServer
  readonly #session: McpSession
  /** Undefined while the session is not in use. */
  #child: Child | undefined
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
    this.#lost.resolve(lost)
  }
}

const failed = ({ reason }: Lost): McpReply & { form: 'failed' } => ({
  form: 'failed',
  status: 502,
  code: 'UPSTREAM_UNREACHABLE',
  message: `${reason}.`,
})

const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`
const ID = String.raw`"id"\s*:\s*("[^"\\]*"|-?[0-9]+)`

const HEAD = new RegExp(
  String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?(?:${ID}\s*,\s*)?(?:${VERSION}\s*,\s*)?"(?:result|error)"\s*:`,
)
// within a string the quotes would be after backslashes
const TAIL = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`)

/** The id of the request that a message answers of which only the ends are known; undefined for one that may answer none. */
const answeredId = ({ head, tail }: LineEnds): string | undefined => {
  const begun = HEAD.exec(head)
  return begun === null ? undefined : (begun[1] ?? TAIL.exec(tail)?.[1])
}

/** How long a child may take to end by itself, and then after SIGTERM. */
const GRACE_MS = 2_000
/** How long its output may stay open after its end. */
const CLOSE_MS = 500
const posix = process.platform !== 'win32'

interface ChildEvents {
  /** The longest line in bytes. */
  readonly limit: number
  onLine(line: Buffer): void
  onTooLong(ends: LineEnds): void
  onStderr(bytes: Buffer): void
}

/** A server as a child process, in a process group of its own and without a shell. */
class Child {
  /** Resolves when it has ended and its output is read. */
  readonly lost: Promise<Lost>
  readonly #process: ChildProcessWithoutNullStreams
  readonly #lines: LineWriter
  #ended = false

  constructor(server: McpServer, { limit, onLine, onTooLong, onStderr }: ChildEvents) {
    const child = spawn(server.command ?? '', [...server.args], {
      cwd: server.cwd,
      env: server.env,
      shell: false,
      detached: posix,
      windowsHide: true,
    })
    this.#process = child
    const lines = new LineReader(limit, onLine, onTooLong)
    child.stdout.on('data', (bytes: Buffer) => lines.push(bytes))
    child.stderr.on('data', onStderr)
    // a child that closes its input says so by its end
    this.#lines = new LineWriter(child.stdin)
    this.lost = this.#end(lines)
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Writes one message; resolves when there is room for more. */
  async send(message: Buffer): Promise<void> {
    if (!this.#ended && this.#process.stdin.writable) await this.#lines.write(message)
  }

  pause(): void {
    this.#process.stdout.pause()
  }

  resume(): void {
    this.#process.stdout.resume()
  }

  /** Closes its input and waits; then SIGTERM; then SIGKILL, for everything it started. */
  async end(): Promise<void> {
    this.#process.stdin.end()
    this.resume()
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#within(GRACE_MS)) break
      this.#signal(signal)
    }
    await this.lost
    this.#signal('SIGKILL')
  }

  async #within(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    const ended = await Promise.race([this.lost.then(() => true), late])
    clearTimeout(timer)
    return ended
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#process
    if (pid === undefined) return
    try {
      if (posix) process.kill(-pid, signal)
      else if (!this.#ended) this.#process.kill(signal)
    } catch {
      // all of it has ended
    }
  }

  async #end(lines: LineReader): Promise<Lost> {
    const child = this.#process
    const lost = await new Promise<Lost>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        resolve({ reason: `Upstream server could not be started (${error.code ?? error.message})`, exit_code: 127 }),
      )
      child.once('exit', (code, signal) => resolve(lostBy(code, signal)))
    })
    await outputClosed(child)
    lines.end()
    this.#ended = true
    return lost
  }
}

const lostBy = (code: number | null, signal: NodeJS.Signals | null): Lost =>
  signal === null
    ? { reason: `Upstream server exited (code ${code ?? 0})`, exit_code: code ?? 0 }
    : { reason: `Upstream server was ended by ${signal}`, exit_code: 128 + constants.signals[signal] }

/** What the child wrote last may still be on its way; others who hold its output open are not waited for. */
const outputClosed = async ({ stdout }: ChildProcessWithoutNullStreams): Promise<void> => {
  if (stdout.closed || stdout.destroyed) return
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS)
  })
  await Promise.race([once(stdout, 'close'), late])
  clearTimeout(timer)
}
