import type { Gateway } from 'guard-gateway/core'
import { hourOf } from './figures/hours.ts'

const DAY_MS = 86_400_000
/** Thirteen months, so that a month can be compared with the same one a year before. */
const RETENTION_MS = 400 * DAY_MS
const FIRST_MS = 60_000
const EVERY_MS = DAY_MS
/** Rows that one statement removes. Others have their turn after it. */
const STEP_ROWS = 500
const TABLES = ['calls_by_hour', 'flags_by_hour'] as const

/** Removes sums of hours that are older than 400 days and older than every call on record, once a day. A failure is reported as a fault. */
export class SumRetention {
  readonly #gateway: Gateway
  #timer: NodeJS.Timeout | undefined
  #running: Promise<unknown> = Promise.resolve()
  #isStopped = false

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  start(): void {
    this.#schedule(FIRST_MS)
  }

  /** Resolves when the pass under way has ended after its present step. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  /** One pass. Resolves to the number of rows that it removed. */
  async pass(): Promise<number> {
    const { storage, clock } = this.#gateway
    const oldest = await storage.find('calls', { order: ['recorded', 'asc'], limit: 1 })
    const cutoff = Math.min(clock.now() - RETENTION_MS, oldest.rows[0]?.received_at ?? Number.POSITIVE_INFINITY)
    let removed = 0
    for (const table of TABLES) {
      let step = STEP_ROWS
      while (step === STEP_ROWS && !this.#isStopped) {
        step = await storage.remove(table, { hour: { lt: hourOf(cutoff) } }, STEP_ROWS)
        removed += step
      }
    }
    return removed
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#running = ((this.#gateway.service('cluster').get()?.leads ?? true) ? this.pass() : Promise.resolve()).catch(
        (error: unknown) => this.#gateway.fault(error, 'recorder:sums'),
      )
      void this.#running.then(() => this.#isStopped || this.#schedule(EVERY_MS))
    }, ms).unref()
  }
}
