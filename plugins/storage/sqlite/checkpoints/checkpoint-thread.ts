import { extname } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { OpenOptions } from '../protocol.ts'
import type { BackgroundCheckpoint } from './checkpoints.ts'

/** A thread costs 10 MB. */
const IDLE_MS = 60_000

/** Runs checkpoints in a separate thread. A checkpoint starts the thread, which ends after a minute without one. */
export class CheckpointThread implements BackgroundCheckpoint {
  readonly #options: OpenOptions
  readonly #onFailure: (message: string) => void
  #worker: Worker | undefined
  #port: MessagePort | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #isRunning = false
  #hasFailed = false

  /** `onFailure` is called once, if the thread ends before `close`. */
  constructor(options: OpenOptions, onFailure: (message: string) => void) {
    this.#options = options
    this.#onFailure = onFailure
  }

  get isRunning(): boolean {
    // busy writing gives the event loop no turn, so the message is received here
    if (this.#isRunning && this.#port !== undefined && receiveMessageOnPort(this.#port) !== undefined)
      this.#isRunning = false
    return this.#isRunning
  }

  start(): boolean {
    if (this.#hasFailed) return false
    this.#port ??= this.#launch()
    this.#isRunning = true
    this.#port.postMessage('checkpoint')
    this.#waitForIdle()
    return true
  }

  /** Ends the thread. Resolves when its connection is closed. */
  async close(): Promise<void> {
    this.#hasFailed = true
    clearTimeout(this.#idleTimer)
    await this.#worker?.terminate()
    this.#port?.close()
  }

  #waitForIdle(): void {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => this.#endIfIdle(), IDLE_MS).unref()
  }

  #endIfIdle(): void {
    if (this.isRunning) {
      this.#waitForIdle()
      return
    }
    this.#worker = undefined
    // ends the thread, which nothing else keeps
    this.#port?.close()
    this.#port = undefined
  }

  #launch(): MessagePort {
    const { port1: near, port2: far } = new MessageChannel()
    const { file, synchronous } = this.#options
    const worker = new Worker(new URL(`./worker${extname(import.meta.filename)}`, import.meta.url), {
      workerData: { file, synchronous, port: far },
      transferList: [far],
      name: 'guard-checkpoint',
      resourceLimits: { maxYoungGenerationSizeMb: 1 },
    })
    // without the thread the writer checkpoints between commits
    const failed = (cause: unknown) => {
      if (this.#worker !== worker) return
      this.#isRunning = false
      if (this.#hasFailed) return
      this.#hasFailed = true
      this.#onFailure(
        `The thread that moves the journal into ${file} ended (${cause instanceof Error ? cause.message : `code ${cause}`}). Until the next start this is done between commits, which are slower for it.`,
      )
    }
    this.#worker = worker.on('error', failed).on('exit', failed)
    worker.unref()
    near.unref()
    return near
  }
}
