/** A value, and whether it was used since the last eviction: a flag costs less than a move in the order. */
interface Entry<T> {
  readonly value: T
  used: boolean
}

/**
 * A cache with second-chance (CLOCK) eviction: at most `limit` values; held ones are never evicted. Concurrent loads of an id are shared, so
 * every value exists once in the process.
 */
export class SecondChanceCache<T> {
  readonly #limit: number
  readonly #isHeld: (value: T) => boolean
  readonly #values = new Map<string, Entry<T>>()
  readonly #loading = new Map<string, Promise<T | undefined>>()

  constructor(limit: number, isHeld: (value: T) => boolean = () => false) {
    this.#limit = limit
    this.#isHeld = isHeld
  }

  get size(): number {
    return this.#values.size
  }

  /** All values; does not count as a use. */
  *values(): Generator<T> {
    for (const { value } of this.#values.values()) yield value
  }

  /** The value; counts as a use. */
  get(id: string): T | undefined {
    const entry = this.#values.get(id)
    if (entry === undefined) return undefined
    entry.used = true
    return entry.value
  }

  set(id: string, value: T): T {
    this.#values.delete(id)
    this.#values.set(id, { value, used: false })
    if (this.#values.size > this.#limit) this.#evict(id)
    return value
  }

  /** Evicts values until at most so many are left, but none that were used since the last eviction or shrink. `isHeld`: stays as well. */
  shrink(size: number, isHeld: (value: T) => boolean): void {
    let left = this.#values.size
    for (const [id, entry] of this.#values) {
      if (left <= size) return
      if (!entry.used && !this.#isHeld(entry.value) && !isHeld(entry.value)) {
        this.#values.delete(id)
        left--
      }
      entry.used = false
    }
  }

  delete(id: string): void {
    this.#values.delete(id)
  }

  /** Forgets all values, those that are held too. */
  clear(): void {
    this.#values.clear()
  }

  /** The value, loaded if it is missing; undefined if there is none. Concurrent callers share one load. */
  async load(id: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const value = this.get(id)
    if (value !== undefined) return value
    const loading = this.#loading.get(id) ?? this.#read(id, read)
    await loading
    return this.get(id)
  }

  /** Like `load`, but makes a missing value in the same step in which its absence is seen. */
  async obtain(id: string, read: () => Promise<T | undefined>, make: () => T): Promise<T> {
    await this.load(id, read)
    return this.get(id) ?? this.set(id, make())
  }

  #read(id: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const loading = (async () => {
      try {
        const value = await read()
        return value === undefined || this.#values.has(id) ? undefined : this.set(id, value)
      } finally {
        this.#loading.delete(id)
      }
    })()
    this.#loading.set(id, loading)
    return loading
  }

  /** Evicts the first value that is neither used, held nor `newest`. Those before it move to the end and lose their flag. */
  #evict(newest: string): void {
    let steps = 2 * this.#values.size
    for (const [id, entry] of this.#values) {
      if (steps-- === 0) return
      this.#values.delete(id)
      if (id !== newest && !entry.used && !this.#isHeld(entry.value)) return
      entry.used = false
      this.#values.set(id, entry)
    }
  }
}
