import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type GatewayProgram, programEnv, programFile, programFlags } from '../programs.ts'
import type { ChildMessages, ChildResponse, MessageName } from './child-messages.ts'

const STOP_LIMIT_MS = 15_000
const measure = programFile('bench/load/measure')

interface PendingRequest {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** A process of the bench. The parent sends it messages over IPC and measures it from inside. */
export class Child {
  readonly name: string
  readonly #process: ChildProcess
  readonly #pending = new Map<number, PendingRequest>()
  readonly #exited: Promise<unknown>
  #stderr = ''
  #lastId = 0

  constructor(name: string, program: string | GatewayProgram, args: readonly string[] = [], cwd = process.cwd()) {
    this.name = name
    const { file, node, flags, startFlags } =
      typeof program === 'string'
        ? { file: program, node: process.execPath, flags: programFlags, startFlags: [] }
        : program
    this.#process = fork(file, args, {
      cwd,
      env: { ...programEnv, ...process.env },
      execPath: node,
      execArgv: [...startFlags, ...flags, '--disable-warning=ExperimentalWarning', `--import=${measure}`],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#exited = once(this.#process, 'exit')
    this.#process.on('message', (message) => this.#settle(message as ChildResponse))
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-4000)
    })
    this.#process.once('exit', (code, signal) => {
      const error = new Error(`${name} ended (${signal ?? code}).\n${this.#stderr}`)
      for (const { reject } of this.#pending.values()) reject(error)
      this.#pending.clear()
    })
  }

  /** The first line of its standard output. */
  async line(): Promise<string> {
    let text = ''
    const printed = async () => {
      for await (const chunk of this.#process.stdout ?? []) {
        text += String(chunk)
        if (text.includes('\n')) return text.slice(0, text.indexOf('\n'))
      }
      throw new Error(`${this.name} ended without a word.\n${this.#stderr}`)
    }
    return printed()
  }

  request<K extends MessageName>(name: K, input: ChildMessages[K][0]): Promise<ChildMessages[K][1]> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: (value) => resolve(value as ChildMessages[K][1]), reject })
      this.#process.send({ id, name, input })
    })
  }

  /** Ends the process with SIGTERM, then SIGKILL. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGTERM')
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_LIMIT_MS)
    await this.#exited
    clearTimeout(timer)
  }

  #settle({ id, value, error }: ChildResponse): void {
    const waiting = this.#pending.get(id)
    this.#pending.delete(id)
    if (error === undefined) waiting?.resolve(value)
    else waiting?.reject(new Error(`${this.name}: ${error}`))
  }
}
