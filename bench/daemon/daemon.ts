import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { type ProcessUsage, usageOf } from './proc.ts'
import type { DaemonProgram, Launch } from './programs.ts'

const STOP_LIMIT_MS = 15_000
const START_LIMIT_MS = 60_000
const RETRY_MS = 5

/** A started target, as users start it: nothing of the bench runs in it. */
export class Daemon {
  readonly program: DaemonProgram
  readonly folder: string
  /** Milliseconds from its start until it listened. */
  readonly start_ms: number
  readonly port: number
  readonly #process: ChildProcess

  private constructor(program: DaemonProgram, folder: string, child: ChildProcess, start_ms: number, port: number) {
    this.program = program
    this.folder = folder
    this.start_ms = start_ms
    this.port = port
    this.#process = child
  }

  /** Starts a program in `folder`. What it compiled stays in `cache` for its next start. Resolves when it listens. */
  static async start(program: DaemonProgram, upstream: number, folder: string, cache: string): Promise<Daemon> {
    mkdirSync(folder, { recursive: true })
    const launch = await program.launch(upstream, folder)
    const began = performance.now()
    const child = spawn(launch.node ?? process.execPath, launch.args, {
      cwd: folder,
      env: { ...process.env, NODE_COMPILE_CACHE: undefined, HOME: folder, XDG_CACHE_HOME: cache, ...launch.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    try {
      const port = await listening(program.name, child, launch)
      return new Daemon(program, folder, child, performance.now() - began, port)
    } catch (error) {
      kill()
      throw error
    }
  }

  usage(): ProcessUsage {
    return usageOf(this.#process.pid ?? 0)
  }

  /** Ends it with SIGTERM, then SIGKILL. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const exited = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_LIMIT_MS)
    await exited
    clearTimeout(timer)
  }
}

/** Resolves to the port of a process as soon as it listens. */
const listening = (name: string, child: ChildProcess, { port }: Launch): Promise<number> =>
  new Promise((resolve, reject) => {
    let [said, errors] = ['', '']
    const settled = new AbortController()
    const fail = (why: string) => {
      settled.abort()
      reject(new Error(`${name} ${why}.\n${said}${errors}`))
    }
    const found = (value: number) => {
      settled.abort()
      resolve(value)
    }
    const limit = setTimeout(() => fail(`did not listen within ${START_LIMIT_MS / 1000} s`), START_LIMIT_MS)
    settled.signal.addEventListener('abort', () => clearTimeout(limit))
    child.once('error', (error) => fail(`did not start: ${error.message}`))
    child.once('close', (code, signal) => fail(`ended (${signal ?? code}) before it listened`))
    child.stderr?.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4000)
    })
    child.stdout?.on('data', (chunk: Buffer) => {
      if (settled.signal.aborted) return
      said += chunk.toString()
      if (port === undefined && said.includes('\n')) found(portIn(said.slice(0, said.indexOf('\n'))))
    })
    if (port !== undefined) accepted(port, settled.signal, () => found(port))
  })

const portIn = (line: string): number => Number(new URL((JSON.parse(line) as { url: string }).url).port)

/** Connects until a connection is accepted. */
const accepted = (port: number, signal: AbortSignal, then: () => void): void => {
  if (signal.aborted) return
  const socket = connect({ host: '127.0.0.1', port })
  socket.once('connect', () => {
    socket.destroy()
    then()
  })
  socket.once('error', () => setTimeout(() => accepted(port, signal, then), RETRY_MS))
}
