/** Notices that a commit takes long. One timer, which looks at most once per `slow_ms`, however many commits there are. */
export class SlowCommit {
  readonly #slow_ms: number
  readonly #isOut: () => boolean
  readonly #onSlow: () => void
  #begun_at = 0
  #timer: NodeJS.Timeout | undefined

  /** `isOut`: a commit is under way. */
  constructor(slow_ms: number, isOut: () => boolean, onSlow: () => void) {
    this.#slow_ms = slow_ms
    this.#isOut = isOut
    this.#onSlow = onSlow
  }

  begun(now: number): void {
    this.#begun_at = now
    this.#timer ??= this.#look(this.#slow_ms)
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  #look(delay: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      if (!this.#isOut()) return
      const left = this.#slow_ms - (performance.now() - this.#begun_at)
      if (left <= 0) this.#onSlow()
      this.#timer = this.#look(left > 0 ? left : this.#slow_ms)
    }, delay).unref()
  }
}
