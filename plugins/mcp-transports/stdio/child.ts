import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { type LineEnds, LineReader, LineWriter } from 'guard-gateway/lib/json-rpc'
import type { Lost, McpServer } from 'guard-gateway/lib/mcp-transport'

/** How long a child may take to end by itself, and then after SIGTERM. */
const GRACE_MS = 2_000
/** How long its output may stay open after its end. */
const CLOSE_MS = 500
const posix = process.platform !== 'win32'

export interface ChildEvents {
  /** The longest line in bytes. */
  readonly limit: number
  onLine(line: Buffer): void
  onTooLong(ends: LineEnds): void
  onStderr(bytes: Buffer): void
}

/** A server as a child process, in a process group of its own and without a shell. */
export class Child {
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
