import { GuardError } from 'guard-gateway/core'
import { databaseErrors } from '#lib/errors'
import type { FromWorker, LogPosition, OpenOptions, ToWorker } from './protocol.ts'
import { acquireThread, releaseThread, type Thread } from './thread.ts'

/** After so many deaths within `window_ms` the storage counts as failing. */
const DEATH_LIMIT = { allowed: 3, window_ms: 60_000 }
const BACKOFF = { first_ms: 50, most_ms: 2_000 }

export interface SupervisorEvents {
  onMessage(message: FromWorker): void
  /** A new worker has opened the file. It has received nothing yet of what the lastError one was sent. */
  readonly onReplaced: (position: LogPosition | undefined, before: LogPosition | undefined) => void
  /** Workers die again and again. The supervisor keeps starting new ones. */
  onFailing(message: string): void
  fault(error: unknown): void
}

/** Runs the worker thread that has the database open, and replaces it when it dies. */
export class WorkerSupervisor {
  readonly #options: OpenOptions
  readonly #events: SupervisorEvents
  #thread: Thread | undefined
  #position: LogPosition | undefined
  #isOpen = false
  #isClosing = false
  #deaths: number[] = []
  #backoff = BACKOFF.first_ms
  #restart: NodeJS.Timeout | undefined
  #onClosed: (() => void) | undefined

  constructor(options: OpenOptions, events: SupervisorEvents) {
    this.#options = options
    this.#events = events
  }

  /** Resolves when the file is open. Throws the GuardError that says why it cannot be opened. */
  async open(): Promise<LogPosition | undefined> {
    await this.#launch(this.#options, () => {})
    return this.#position
  }

  #launch(options: OpenOptions, onOpen: SupervisorEvents['onReplaced']): Promise<void> {
    return new Promise((resolve, reject) => {
      const thread = acquireThread(options)
      const { worker } = thread
      let lastError: unknown
      const receive = (message: FromWorker): void => {
        if (message.kind === 'open') {
          this.#thread = thread
          this.#isOpen = true
          const before = this.#position
          this.#position = message.position
          onOpen(message.position, before)
          resolve()
        } else if (message.kind === 'refused') {
          detach()
          reject(new GuardError(databaseErrors[message.code], message.message))
        } else if (message.kind === 'closed') {
          detach()
          this.#onEnd()
        } else this.#handle(message)
      }
      const failed = (error: unknown): void => {
        lastError = error
      }
      const exited = (): void => {
        const cause = lastError ?? new Error('the storage worker ended')
        reject(new GuardError('STORAGE_UNAVAILABLE', `The storage worker ended: ${String(cause)}.`, { cause }))
        if (this.#thread === thread) this.#onDeath(cause)
      }
      const detach = (): void => {
        worker.off('message', receive).off('error', failed).off('exit', exited)
        releaseThread(thread)
      }
      worker.on('message', receive).on('error', failed).on('exit', exited)
    })
  }

  #handle(message: FromWorker): void {
    if (message.kind === 'warning') this.#events.fault(new Error(message.message))
    else this.#events.onMessage(message)
  }

  /** Posts a message, unless there is no worker at the moment. `onReplaced` sends again what must not be lost. */
  post(message: ToWorker): void {
    if (this.#isOpen) this.#thread?.worker.postMessage(message)
  }

  /** Lets the worker finish its work and close the file. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#restart)
    if (!this.#isOpen) return
    await new Promise<void>((resolve) => {
      this.#onClosed = resolve
      this.#thread?.worker.postMessage({ kind: 'close' } satisfies ToWorker)
    })
  }

  #onEnd(): void {
    this.#isOpen = false
    this.#thread = undefined
    this.#onClosed?.()
  }

  #onDeath(cause: unknown): void {
    this.#onEnd()
    if (this.#isClosing) return
    this.#events.fault(cause)
    const now = performance.now()
    this.#deaths = [...this.#deaths.filter((at) => now - at < DEATH_LIMIT.window_ms), now]
    if (this.#deaths.length >= DEATH_LIMIT.allowed) this.#events.onFailing(String(cause))
    this.#scheduleRestart()
  }

  #scheduleRestart(): void {
    this.#restart = setTimeout(() => void this.#replace(), this.#backoff)
    this.#backoff = Math.min(this.#backoff * 2, BACKOFF.most_ms)
  }

  async #replace(): Promise<void> {
    try {
      // nothing else may be posted before: the new worker has no statement shapes yet
      await this.#launch({ ...this.#options, resumes: this.#position?.database }, this.#events.onReplaced)
      this.#backoff = BACKOFF.first_ms
      if (this.#isClosing) await this.close()
    } catch (error) {
      this.#events.onFailing(error instanceof Error ? error.message : String(error))
      if (!this.#isClosing) this.#scheduleRestart()
    }
  }
}
