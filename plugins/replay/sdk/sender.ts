import type { Stats } from './api.ts'
import type { Backlog } from './backlog.ts'
import type { Delivery } from './delivery.ts'
import type { Recording } from './recording.ts'
import type { TraceRecord } from './records.ts'

/** Time limit for an aborted request, ms. */
const GIVEN_UP_MS = 100
/** Traces whose end is remembered. */
const MAX_UNENDED = 100
/** Records that trigger a send before the timer. */
const SEND_AT = 100

export interface SenderOptions {
  readonly backlog: Backlog
  readonly delivery: Delivery
  /** ms */
  readonly flush_ms: number
  /** Maximum wait for the gateway, ms. */
  readonly timeout_ms: number
  /** Runs work outside of the user's asynchronous contexts. */
  readonly outside: (work: () => void) => void
}

/** Sends queued records: after a delay, above a size, or on flush. */
export class Sender {
  readonly #options: SenderOptions
  readonly #backlog: Backlog
  #timer: NodeJS.Timeout | undefined
  #running = false
  /** Resolves when nothing is in flight. */
  #idle: Promise<void> = Promise.resolve()
  /** The trace with records in flight. */
  #current: readonly Recording[] = []
  #onTheWay = 0
  #sent = 0
  #failed = 0
  #unknown = 0
  /** Ended traces whose end may not be stored. */
  readonly #unended = new Set<Recording>()

  constructor(options: SenderOptions) {
    this.#options = options
    this.#backlog = options.backlog
  }

  get stats(): Stats {
    return {
      queued: this.#backlog.size + this.#onTheWay,
      sent: this.#sent,
      dropped: this.#backlog.dropped,
      failed: this.#failed,
      unknown: this.#unknown,
    }
  }

  add(recording: Recording, record: TraceRecord): void {
    this.#backlog.add(recording, record)
    if (this.#running || this.#backlog.ready === 0) return
    if (this.#backlog.ready >= SEND_AT || recording.due) this.#wake()
    else if (this.#timer === undefined) this.#options.outside(() => this.#arm())
  }

  /** Resolves when the records of this trace are settled, at most `timeout_ms` later. */
  async settled(recording: Recording): Promise<void> {
    this.#wake()
    await withTimeout(this.#options.timeout_ms, recording.settled())
  }

  /** Sends all queued records; resolves when they are settled, at most `timeout_ms` later. */
  async flush(timeout_ms: number = this.#options.timeout_ms): Promise<void> {
    const concerned = this.#backlog.release()
    this.#wake()
    const settled = [...concerned, ...this.#current].map((recording) => recording.settled())
    const ended = Promise.all(settled).then(() => (this.#unended.size > 0 ? this.#idle : undefined))
    await withTimeout(timeout_ms, ended)
  }

  /** Drops all queued records and those in flight, and stops the timer; resolves when all are counted. */
  async abandon(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const entries = this.#backlog.clear()
    this.#failed += entries.length
    for (const { recording } of entries) recording.settle(1)
    this.#unended.clear()
    this.#options.delivery.abandon(entries.length)
    if (this.#running) await withTimeout(GIVEN_UP_MS, this.#idle)
  }

  #arm(): void {
    this.#timer = setTimeout(() => this.#wake(), this.#options.flush_ms)
    this.#timer.unref()
  }

  #wake(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#running || (this.#backlog.ready === 0 && this.#unended.size === 0)) return
    this.#running = true
    // encoding a batch takes time, so it runs after the user's code
    this.#idle = new Promise((resolve) =>
      this.#options.outside(() => void setImmediate(() => void this.#run().then(resolve))),
    )
  }

  async #run(): Promise<void> {
    let reached = true
    for (let batch = this.#backlog.take(); batch !== undefined; batch = this.#backlog.take()) {
      const { recording, entries } = batch
      this.#current = [recording]
      this.#onTheWay = entries.length
      const { sent, failed, unknown, unanswered } = await this.#options.delivery.deliver(batch)
      this.#current = []
      this.#onTheWay = 0
      this.#sent += sent
      this.#failed += failed
      this.#unknown += unknown
      recording.mayBeStored ||= sent + unknown > 0
      if (unanswered) this.#noteEnd(recording)
      reached = !unanswered
      recording.settle(entries.length)
    }
    if (reached) await this.#sendEnds()
    this.#running = false
  }

  /** Remembers a trace whose end may be missing: it would stay `running`. */
  #noteEnd(recording: Recording): void {
    if (recording.mayBeStored && this.#unended.size < MAX_UNENDED) this.#unended.add(recording)
  }

  /** Sends the ends of traces again, after everything else. A repeated end changes nothing. */
  async #sendEnds(): Promise<void> {
    for (const recording of this.#unended) {
      if (recording.root.end_ns === undefined) continue
      const { unanswered } = await this.#options.delivery.deliver({ recording, entries: [], last: true })
      if (unanswered) return
      this.#unended.delete(recording)
    }
  }
}

/** Resolves with `work`, or after `ms`; keeps the process alive until then. */
const withTimeout = (ms: number, work: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
