import type { Key } from 'guard-gateway/core'

/** How long a stored row may be outdated. */
const MAX_DELAY_MS = 2_000

/**
 * Write-behind of rows: what has changed waits, is replaced by what changes later, and is written every two seconds or before somebody
 * reads it. What waits is lost with the process, so it must follow from what is stored: whoever uses this computes it again at the next start.
 */
export class WriteBehind<Item> {
  readonly #write: (item: Item) => Promise<void>
  readonly #pending = new Map<string, Item>()
  /** Writes under way, by key. */
  readonly #writing = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  /** `write` never rejects. It adds again what could not be written. */
  constructor(write: (item: Item) => Promise<void>) {
    this.#write = write
  }

  /** The row of this key is outdated. */
  add(key: string, item: Item): void {
    this.#pending.set(key, item)
    this.#timer ??= setTimeout(() => this.#flushAll(), MAX_DELAY_MS).unref()
  }

  /** What waits for its write. */
  get(key: string): Item | undefined {
    return this.#pending.get(key)
  }

  /** The row of this key is written by another change. */
  delete(key: string): void {
    this.#pending.delete(key)
  }

  /** Writes what waits under one key, or all; undefined if nothing is outdated. Made for `storage.beforeReads`. Never rejects. */
  flush(key?: Key): Promise<unknown> | undefined {
    if (this.#pending.size + this.#writing.size === 0) return undefined
    if (key !== undefined) {
      this.#begin(String(key))
      return this.#writing.get(String(key))
    }
    for (const pending of this.#pending.keys()) this.#begin(pending)
    return Promise.all(this.#writing.values())
  }

  /** Writes all and stops the timer. */
  async end(): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #flushAll(): void {
    this.#timer = undefined
    void this.flush()
  }

  #begin(key: string): void {
    const item = this.#pending.get(key)
    if (item === undefined) return
    this.#pending.delete(key)
    const writing: Promise<void> = this.#write(item).finally(() => {
      if (this.#writing.get(key) === writing) this.#writing.delete(key)
    })
    this.#writing.set(key, writing)
  }
}
