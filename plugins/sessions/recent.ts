/** A thing and whether it was used since room was last made: a mark costs less than a new place in the order. */
interface Kept<T> {
  readonly value: T
  used: boolean
}

/**
 * Things known by id, at most `limit` of them: one that was not used lately goes first, one that is held never.
 * What is not there is loaded once, however many ask for it, so that every thing exists once in the process.
 */
export class Recent<T> {
  readonly #limit: number
  readonly #held: (value: T) => boolean
  readonly #values = new Map<string, Kept<T>>()
  readonly #loading = new Map<string, Promise<T | undefined>>()

  constructor(limit: number, held: (value: T) => boolean = () => false) {
    this.#limit = limit
    this.#held = held
  }

  get size(): number {
    return this.#values.size
  }

  /** All of them, which does not count as a use. */
  *values(): Generator<T> {
    for (const { value } of this.#values.values()) yield value
  }

  /** The value, which counts as used now. */
  get(id: string): T | undefined {
    const kept = this.#values.get(id)
    if (kept === undefined) return undefined
    kept.used = true
    return kept.value
  }

  set(id: string, value: T): T {
    this.#values.delete(id)
    this.#values.set(id, { value, used: false })
    if (this.#values.size > this.#limit) this.#makeRoom(id)
    return value
  }

  /** The value, read if it is not there; undefined if there is none to read. Concurrent callers share one reading. */
  async load(id: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const value = this.get(id)
    if (value !== undefined) return value
    const loading = this.#loading.get(id) ?? this.#read(id, read)
    await loading
    return this.get(id)
  }

  /** As `load`; what cannot be read is made, in the same step in which its absence is seen. */
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

  /** Drops the first that is neither used, held nor `newest`; those before it move to the end, and have to be used again to stay. */
  #makeRoom(newest: string): void {
    let left = 2 * this.#values.size
    for (const [id, kept] of this.#values) {
      if (left-- === 0) return
      this.#values.delete(id)
      if (id !== newest && !kept.used && !this.#held(kept.value)) return
      kept.used = false
      this.#values.set(id, kept)
    }
  }
}
