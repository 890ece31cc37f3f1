import type { Gateway } from 'guard-gateway/core'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Longer than providers keep what nobody uses. */
const RETENTION_MS = 400 * DAY_MS
const AT_ONCE = 1_000

/** Forgets objects 400 days after they were named first, once a day, in one process of those that share a storage. */
export class Upkeep {
  readonly #gateway: Gateway
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  begin(): void {
    this.#schedule(MINUTE_MS)
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#running
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#pass()
    }, ms).unref()
  }

  async #pass(): Promise<void> {
    const { storage, clock, fault } = this.#gateway
    const old = { created_at: { lt: clock.now() - RETENTION_MS } }
    try {
      if (this.#gateway.service('cluster').get()?.leads ?? true)
        while ((await storage.remove('provider_objects', old, AT_ONCE)) === AT_ONCE);
    } catch (error) {
      fault(error, 'provider-objects:upkeep')
    }
    if (this.#timer !== undefined) this.#schedule(DAY_MS)
  }
}
