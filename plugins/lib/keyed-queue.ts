import type { Key } from 'guard-gateway/core'

/** Lets one piece of work at a time run for each name, in the order in which they came. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name)
    const mine = before === undefined ? work() : before.then(work, work)
    this.#last.set(name, mine)
    const release = () => {
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
    mine.then(release, release)
    return mine
  }

  /** The same for several keys: it waits for earlier tasks of any of them, and later tasks of any wait for it. */
  runAll<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = names.map((name) => this.#last.get(name)).filter((one) => one !== undefined)
    const mine = before.length === 0 ? work() : Promise.allSettled(before).then(work)
    for (const name of names) this.#last.set(name, mine)
    const release = () => {
      for (const name of names) if (this.#last.get(name) === mine) this.#last.delete(name)
    }
    mine.then(release, release)
    return mine
  }

  /** Number of keys with running or waiting tasks. */
  get size(): number {
    return this.#last.size
  }
}

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
