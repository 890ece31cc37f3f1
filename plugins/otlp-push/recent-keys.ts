/** A bounded set of the last keys: at least `most`, at most twice as many. */
export class RecentKeys {
  readonly #most: number
  #young = new Set<string>()
  #old: ReadonlySet<string> = new Set()

  constructor(min_size: number) {
    this.#most = min_size
  }

  /** False for a known key. */
  add(text: string): boolean {
    if (this.#young.has(text) || this.#old.has(text)) return false
    this.#young.add(text)
    if (this.#young.size < this.#most) return true
    this.#old = this.#young
    this.#young = new Set()
    return true
  }
}
