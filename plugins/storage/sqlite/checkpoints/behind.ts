import { extname } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Start } from '../protocol.ts'
import type { Mover } from './checkpoints.ts'

/** Moves pages of the journal into the file in a thread of its own, which begins with the first ones. */
export class CheckpointBehind implements Mover {
  readonly #start: Start
  readonly #onFailure: (message: string) => void
  #worker: Worker | undefined
  #port: MessagePort | undefined
  #isMoving = false
  #hasFailed = false

  /** `onFailure` is told once, should the thread end before it is closed. */
  constructor(start: Start, onFailure: (message: string) => void) {
    this.#start = start
    this.#onFailure = onFailure
  }

  get isMoving(): boolean {
    // who writes without a pause hears no events
    if (this.#isMoving && this.#port !== undefined && receiveMessageOnPort(this.#port) !== undefined)
      this.#isMoving = false
    return this.#isMoving
  }

  move(): boolean {
    if (this.#hasFailed) return false
    this.#port ??= this.#launch()
    this.#isMoving = true
    this.#port.postMessage('move')
    return true
  }

  /** Ends the thread; resolves when its connection is closed. */
  async close(): Promise<void> {
    this.#hasFailed = true
    await this.#worker?.terminate()
    this.#port?.close()
  }

  #launch(): MessagePort {
    const { port1: near, port2: far } = new MessageChannel()
    const { file, synchronous } = this.#start
    this.#worker = new Worker(new URL(`./worker${extname(import.meta.filename)}`, import.meta.url), {
      workerData: { file, synchronous, port: far },
      transferList: [far],
      name: 'guard-checkpoint',
      resourceLimits: { maxYoungGenerationSizeMb: 1 },
    })
    // without the thread pages are moved between the commits
    const failed = (cause: unknown) => {
      this.#isMoving = false
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
