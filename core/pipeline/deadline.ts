import { GuardError } from '../errors.ts'

const LOOK_MS = 250

/** Something that is waited for. */
interface Waiting {
  /** Position among those waiting; -1 for none. */
  place: number
  /** Monotonic milliseconds. */
  readonly due: number
  giveUp(): void
}

/** Everything of one gateway that somebody waits for with a limit: one timer looks after all of it, since nearly all of it ends in time. */
export class Deadlines {
  /** An array: a set that churns leaves tables which keep what they held alive. */
  readonly #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  /**
   * Begins work that calls back, and gives its value: at once where it has called back already, since each promise on the way of a request costs.
   * After `limit` milliseconds, give or take a quarter of a second, it counts as thrown.
   */
  within<T>(limit: number, what: string, begin: (done: (error: unknown, value?: T) => void) => void): T | Promise<T> {
    const work = new Work<T>(this, limit, what)
    begin(work.done)
    return work.outcome()
  }

  /** Gives the position of what is waited for from now on. */
  add(one: Waiting): number {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS)
    return this.#waiting.push(one) - 1
  }

  remove(one: Waiting): void {
    const last = this.#waiting.pop()
    if (last === undefined || last === one) return
    this.#waiting[one.place] = last
    last.place = one.place
  }

  #look(): void {
    const now = performance.now()
    for (const one of this.#waiting.filter(({ due }) => due <= now)) one.giveUp()
    if (this.#waiting.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** Work that calls back. */
class Work<T> implements Waiting {
  readonly #limit: number
  readonly #what: string
  #isOver = false
  #error: unknown
  #value: T | undefined
  /** Position among those waiting. */
  place = -1
  due = 0
  #resolve: ((value: T) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  readonly #deadlines: Deadlines

  constructor(deadlines: Deadlines, limit: number, what: string) {
    this.#deadlines = deadlines
    this.#limit = limit
    this.#what = what
  }

  readonly done = (error: unknown, value?: T): void => {
    if (this.#isOver) return
    this.#isOver = true
    this.#error = error
    this.#value = value
    if (this.place === -1) return
    this.#deadlines.remove(this)
    if (error) this.#reject?.(error)
    else this.#resolve?.(value as T)
  }

  /** What came of it, if it has called back; else whatever will, within the limit. */
  outcome(): T | Promise<T> {
    if (!this.#isOver) return new Promise<T>((resolve, reject) => this.#wait(resolve, reject))
    if (this.#error) throw this.#error
    return this.#value as T
  }

  giveUp(): void {
    this.done(new GuardError('INTERNAL', `A plugin on "${this.#what}" did not answer within ${this.#limit / 1000} s.`))
  }

  #wait(resolve: (value: T) => void, reject: (error: unknown) => void): void {
    this.#resolve = resolve
    this.#reject = reject
    this.due = performance.now() + this.#limit
    this.place = this.#deadlines.add(this)
  }
}
