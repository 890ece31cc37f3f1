import { GuardError } from 'guard-gateway/core'
import type { Place } from './ahead/place.ts'
import type { FromWorker, Start, ToWorker } from './protocol.ts'
import { giveBack, type Thread, threadFor } from './thread.ts'

/** Deaths within `window_ms` after which the storage counts as failing. */
const DEATHS = { allowed: 3, window_ms: 60_000 }
const BACKOFF = { first_ms: 50, most_ms: 2_000 }

export interface LinkEvents {
  onMessage(message: FromWorker): void
  /** A new worker has opened the file and knows nothing of what the last one was sent. */
  readonly onReplaced: (place: Place | undefined, before: Place | undefined) => void
  /** Workers die again and again; the link goes on trying. */
  onFailing(message: string): void
  fault(error: unknown): void
}

/** The worker thread that keeps the file, replaced when it dies. */
export class Link {
  readonly #start: Start
  readonly #events: LinkEvents
  #thread: Thread | undefined
  #place: Place | undefined
  #up = false
  #closing = false
  #deaths: number[] = []
  #backoff = BACKOFF.first_ms
  #restart: NodeJS.Timeout | undefined
  #gone: (() => void) | undefined

  constructor(start: Start, events: LinkEvents) {
    this.#start = start
    this.#events = events
  }

  /** Resolves when the file is open; throws the GuardError that says why it cannot be. */
  async open(): Promise<Place | undefined> {
    await this.#launch(this.#start, () => {})
    return this.#place
  }

  #launch(start: Start, onUp: LinkEvents['onReplaced']): Promise<void> {
    return new Promise((resolve, reject) => {
      const thread = threadFor(start)
      const { worker } = thread
      let last: unknown
      const heard = (message: FromWorker): void => {
        if (message.kind === 'open') {
          this.#thread = thread
          this.#up = true
          const before = this.#place
          this.#place = message.place
          onUp(message.place, before)
          resolve()
        } else if (message.kind === 'refused') {
          leave()
          reject(new GuardError(message.code, message.message))
        } else if (message.kind === 'closed') {
          leave()
          this.#ended()
        } else this.#hear(message)
      }
      const failed = (error: unknown): void => {
        last = error
      }
      const exited = (): void => {
        const cause = last ?? new Error('the storage worker ended')
        reject(new GuardError('STORAGE_UNAVAILABLE', `The storage worker ended: ${String(cause)}.`, { cause }))
        if (this.#thread === thread) this.#died(cause)
      }
      const leave = (): void => {
        worker.off('message', heard).off('error', failed).off('exit', exited)
        giveBack(thread)
      }
      worker.on('message', heard).on('error', failed).on('exit', exited)
    })
  }

  #hear(message: FromWorker): void {
    if (message.kind === 'warning') this.#events.fault(new Error(message.message))
    else this.#events.onMessage(message)
  }

  /** Posts unless there is no worker just now; what must not be lost is sent again by `onReplaced`. */
  post(message: ToWorker): void {
    if (this.#up) this.#thread?.worker.postMessage(message)
  }

  /** Lets the worker finish and close the file. */
  async close(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#restart)
    if (!this.#up) return
    await new Promise<void>((resolve) => {
      this.#gone = resolve
      this.#thread?.worker.postMessage({ kind: 'close' } satisfies ToWorker)
    })
  }

  #ended(): void {
    this.#up = false
    this.#thread = undefined
    this.#gone?.()
  }

  #died(cause: unknown): void {
    this.#ended()
    if (this.#closing) return
    this.#events.fault(cause)
    const now = performance.now()
    this.#deaths = [...this.#deaths.filter((at) => now - at < DEATHS.window_ms), now]
    if (this.#deaths.length >= DEATHS.allowed) this.#events.onFailing(String(cause))
    this.#again()
  }

  #again(): void {
    this.#restart = setTimeout(() => void this.#replace(), this.#backoff)
    this.#backoff = Math.min(this.#backoff * 2, BACKOFF.most_ms)
  }

  async #replace(): Promise<void> {
    try {
      // before anything else is posted: the new worker knows no shapes yet
      await this.#launch({ ...this.#start, resumes: this.#place?.database }, this.#events.onReplaced)
      this.#backoff = BACKOFF.first_ms
      if (this.#closing) await this.close()
    } catch (error) {
      this.#events.onFailing(error instanceof Error ? error.message : String(error))
      if (!this.#closing) this.#again()
    }
  }
}
