import { extname } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { OpenOptions } from '../protocol.ts'
import type { BackgroundCheckpoint } from './checkpoints.ts'

/** Runs checkpoints in a separate thread. The first checkpoint starts the thread. */
export class CheckpointThread implements BackgroundCheckpoint {
  readonly #options: OpenOptions
  readonly #onFailure: (message: string) => void
  #worker: Worker | undefined
  #port: MessagePort | undefined
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
    return true
  }

  /** Ends the thread. Resolves when its connection is closed. */
  async close(): Promise<void> {
    this.#hasFailed = true
    await this.#worker?.terminate()
    this.#port?.close()
  }

  #launch(): MessagePort {
    const { port1: near, port2: far } = new MessageChannel()
    const { file, synchronous } = this.#options
    this.#worker = new Worker(new URL(`./worker${extname(import.meta.filename)}`, import.meta.url), {
      workerData: { file, synchronous, port: far },
      transferList: [far],
      name: 'guard-checkpoint',
      resourceLimits: { maxYoungGenerationSizeMb: 1 },
    })
    // without the thread the writer checkpoints between commits
    const failed = (cause: unknown) => {
      this.#isRunning = false
      if (this.#hasFailed) return
      this.#hasFailed = true
      this.#onFailure(
        `The thread that moves the journal into ${file} ended (${cause instanceof Error ? cause.message : `code ${cause}`}). Until the next start this is done between commits, which are slower for it.`,
      )
    }
    this.#worker.on('error', failed).on('exit', failed).unref()
    near.unref()
    return near
  }
}
