/** Detects slow commits. It uses one timer, which checks at most once per `slow_ms`, however many commits run. */
export class SlowCommitTimer {
  readonly #slow_ms: number
  readonly #isCommitting: () => boolean
  readonly #onSlow: () => void
  #started_at = 0
  #timer: NodeJS.Timeout | undefined

  /** `isCommitting`: a commit is running. */
  constructor(slow_ms: number, isCommitting: () => boolean, onSlow: () => void) {
    this.#slow_ms = slow_ms
    this.#isCommitting = isCommitting
    this.#onSlow = onSlow
  }

  started(now: number): void {
    this.#started_at = now
    this.#timer ??= this.#check(this.#slow_ms)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #check(delay: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      if (!this.#isCommitting()) return
      const remaining = this.#slow_ms - (performance.now() - this.#started_at)
      if (remaining <= 0) this.#onSlow()
      this.#timer = this.#check(remaining > 0 ? remaining : this.#slow_ms)
    }, delay).unref()
  }
}
