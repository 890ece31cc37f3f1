import type { Gateway } from 'guard-gateway/core'
import { thisMachine } from 'guard-gateway/lib/principal'
import type { Staging } from '../write/staging.ts'
import { endAbandonedRuns } from './abandoned-runs.ts'
import type { Retention } from './retention.ts'

const FIRST_MS = 30_000
const EVERY_MS = 300_000

/** Ends abandoned runs, removes abandoned imports and applies retention every five minutes, one pass at a time. A failure is reported as a fault. */
export class Maintenance {
  readonly #gateway: Gateway
  readonly #retention: Retention
  readonly #staging: Staging
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, retention: Retention, staging: Staging) {
    this.#gateway = gateway
    this.#retention = retention
    this.#staging = staging
  }

  /** Ends runs that an earlier process left running, and starts the timer. */
  async begin(): Promise<void> {
    await this.#try(() => endAbandonedRuns(this.#gateway))
    await this.#try(() => this.#staging.sweep())
    this.#schedule(FIRST_MS)
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#retention.stop()
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => void this.#pass(), ms)
    this.#timer.unref()
  }

  async #pass(): Promise<void> {
    if (this.#gateway.service('cluster').get()?.leads ?? true) {
      await this.#try(() => endAbandonedRuns(this.#gateway))
      await this.#try(() => this.#staging.sweep())
      await this.#try(() => this.#removeOld())
    }
    if (this.#timer !== undefined) this.#schedule(EVERY_MS)
  }

  async #removeOld(): Promise<void> {
    const runs = await this.#retention.pass()
    if (runs === 0) return
    const actor = { ...thisMachine, name: 'gateway' }
    await this.#gateway.service('audit').get()?.note({ action: 'retention.removed', details: { runs }, actor })
  }

  async #try(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#gateway.fault(error, 'replay:upkeep')
    }
  }
}
