/** A bounded set: the keys added last, at least `most` and at most twice as many. */
export class RecentKeys {
  readonly #most: number
  #young = new Set<string>()
  #old: ReadonlySet<string> = new Set()

  constructor(most: number) {
    this.#most = most
  }

  /** False: it is there already. */
  add(text: string): boolean {
    if (this.#young.has(text) || this.#old.has(text)) return false
    this.#young.add(text)
    if (this.#young.size < this.#most) return true
    this.#old = this.#young
    this.#young = new Set()
    return true
  }
}
