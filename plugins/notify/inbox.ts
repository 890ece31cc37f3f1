/** More that come at once are counted and not told of one by one. */
const MAX_WAITING = 1_000
/** How many are worked off between two turns of other work. */
const AT_ONCE = 20

/** What came while others were at work, to be worked off in turns of its own. To add something costs no more than to remember it. */
export class Inbox<T> {
  readonly #work: (item: T) => void
  #waiting: T[] = []
  #isScheduled = false
  /** Those for which there was no room. */
  overrun = 0

  constructor(work: (item: T) => void) {
    this.#work = work
  }

  add(item: T): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.overrun++
      return
    }
    this.#waiting.push(item)
    this.#schedule()
  }

  /** Works all of it off. */
  flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const item of waiting) this.#work(item)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    for (const item of this.#waiting.splice(0, AT_ONCE)) this.#work(item)
    if (this.#waiting.length > 0) this.#schedule()
  }
}
