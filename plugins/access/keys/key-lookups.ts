import type { Gateway } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'

/** What a look into the storage found is believed for this long. */
const FRESH_MS = 5_000
const MAX_REMEMBERED = 10_000
/** Beyond this, unknown keys are refused without a look. */
const MAX_AT_ONCE = 32

/** Looks for keys in the storage, each at most once in a while, and few at once however many are tried. */
export class KeyLookups {
  readonly #gateway: Gateway
  readonly #read: (hash: string) => Promise<unknown>
  /** When a hash was looked for last, monotonic milliseconds. */
  readonly #looked = new LRU<number>(MAX_REMEMBERED)
  readonly #running = new Map<string, Promise<void>>()

  constructor(gateway: Gateway, read: (hash: string) => Promise<unknown>) {
    this.#gateway = gateway
    this.#read = read
  }

  /** Undefined: what is known of it is fresh. */
  lookUp(hash: string): Promise<void> | undefined {
    const running = this.#running.get(hash)
    if (running !== undefined) return running
    const looked = this.#looked.get(hash)
    const now = this.#gateway.clock.tick()
    if ((looked !== undefined && now - looked < FRESH_MS) || this.#running.size >= MAX_AT_ONCE) return undefined
    // while the storage fails, what is known holds
    const work = this.#read(hash)
      .then(() => {})
      .catch((error: unknown) => this.#gateway.fault(error, 'access:key_lookup'))
      .finally(() => {
        this.#running.delete(hash)
        this.#looked.set(hash, this.#gateway.clock.tick())
      })
    this.#running.set(hash, work)
    return work
  }

  /** Every hash may be looked for anew. */
  forget(): void {
    this.#looked.clear()
  }
}
