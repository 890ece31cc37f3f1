/** In which order keys are used. */
export type KeyOrder = 'in_order' | 'round_robin'

interface PooledKey<T> {
  readonly value: T
  /** Tick until which it is not used. */
  until: number
}

/** Several keys of one upstream, of which those that were refused rest for a while. */
export class KeyPool<T> {
  readonly #keys: readonly PooledKey<T>[]
  readonly #order: KeyOrder
  /** Where the next request starts to look. */
  #start = 0

  constructor(values: readonly T[], order: KeyOrder) {
    this.#keys = values.map((value) => ({ value, until: 0 }))
    this.#order = order
  }

  get size(): number {
    return this.#keys.length
  }

  resting(now: number): number {
    return this.#keys.filter(({ until }) => until > now).length
  }

  /** The key of a new request: the first that does not rest, or else the one that rests the shortest. */
  first(now: number): T {
    const count = this.#keys.length
    const ordered = this.#keys.map((_, index) => this.#keys[(this.#start + index) % count] as PooledKey<T>)
    const found = ordered.find(({ until }) => until <= now) ?? ordered.reduce((a, b) => (b.until < a.until ? b : a))
    if (this.#order === 'round_robin') this.#start = (this.#keys.indexOf(found) + 1) % count
    return found.value
  }

  /** Another key that does not rest; undefined if there is none. */
  another(used: ReadonlySet<T>, now: number): T | undefined {
    return this.#keys.find(({ value, until }) => until <= now && !used.has(value))?.value
  }

  rest(value: T, until: number): void {
    const key = this.#keys.find((entry) => entry.value === value)
    if (key !== undefined) key.until = Math.max(key.until, until)
  }

  /** The tick at which a key is free again; 0 if one is. */
  freeAt(): number {
    return Math.min(...this.#keys.map(({ until }) => until))
  }

  /** It was taken after all. */
  free(value: T): void {
    const key = this.#keys.find((entry) => entry.value === value)
    if (key !== undefined) key.until = 0
  }
}
