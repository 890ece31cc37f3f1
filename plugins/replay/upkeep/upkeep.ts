import type { Gateway } from 'guard-gateway/core'
import type { Staging } from '../keep/staging.ts'
import type { Retention } from './retention.ts'
import { sweep } from './sweep.ts'

const FIRST_MS = 30_000
const EVERY_MS = 300_000

/** Sweeps and removes what is too old from time to time, never twice at once. A failure is a fault and the next turn comes. */
export class Upkeep {
  readonly #gateway: Gateway
  readonly #retention: Retention
  readonly #staging: Staging
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, retention: Retention, staging: Staging) {
    this.#gateway = gateway
    this.#retention = retention
    this.#staging = staging
  }

  /** Ends what an earlier process left, and begins to keep order. */
  async begin(): Promise<void> {
    await this.#try(() => sweep(this.#gateway))
    await this.#try(() => this.#staging.sweep())
    this.#later(FIRST_MS)
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#retention.stop()
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => void this.#turn(), ms)
    this.#timer.unref()
  }

  async #turn(): Promise<void> {
    await this.#try(() => sweep(this.#gateway))
    await this.#try(() => this.#staging.sweep())
    await this.#try(() => this.#retention.pass())
    if (this.#timer !== undefined) this.#later(EVERY_MS)
  }

  async #try(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#gateway.fault(error, 'replay:upkeep')
    }
  }
}
