/**
 * What one call may cost, in steps of one to three nanoseconds: a character read is one, a shape tried
 * is some. Counted rather than timed, so that a text is hidden on every machine and under every load, or on none.
 */
const MAX_STEPS = 40_000_000

/** The call has cost what a call may cost: what is left of it is hidden unread. */
export class WorkLimit extends Error {
  override readonly name = 'WorkLimit'
}

/** Counts the work of a call and of all that is decoded for it, so that no text holds the event loop for long. */
export class Work {
  #left = MAX_STEPS
  #depth = 0

  /** Runs a call; one within another counts with it. */
  within<T>(call: () => T): T {
    if (this.#depth === 0) this.#left = MAX_STEPS
    this.#depth++
    try {
      return call()
    } finally {
      this.#depth--
    }
  }

  /** Throws a `WorkLimit` when nothing is left. */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new WorkLimit('a text costs more to examine than one call may')
  }
}
