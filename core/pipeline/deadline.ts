import { noteErrorOrigin, turnOf } from '../errors/error-origin.ts'
import { GuardError } from '../errors.ts'

const CHECK_MS = 250

/** Work with a deadline. */
interface PendingWork {
  /** Index among the pending; -1 for none. */
  index: number
  /** Monotonic milliseconds. */
  due: number
  giveUp(): void
}

/** All work of one gateway that has a deadline. One timer checks all of it, since nearly all work ends in time. */
export class Deadlines {
  /** An array: a Set that churns leaves old tables, which keep their members alive. */
  readonly #pending: PendingWork[] = []
  #timer: NodeJS.Timeout | undefined
  #checked_at = 0

  /**
   * Starts work with a callback and gives its value; without a promise if it calls back at once, since promises cost on the hot path.
   * After `ms` milliseconds (± 250) it fails with INTERNAL, as an error of the tap that has its turn with `about`.
   */
  withDeadline<T>(
    ms: number,
    what: string,
    about: object,
    run: (done: (error: unknown, value?: T) => void) => void,
  ): T | Promise<T> {
    const work = new DeadlineWork<T>(this, ms, what, about)
    run(work.done)
    return work.outcome()
  }

  /** Adds work and gives its index. A deadline alone keeps no process alive. */
  add(one: PendingWork): number {
    if (this.#timer === undefined) {
      this.#checked_at = performance.now()
      this.#timer = setInterval(() => this.#check(), CHECK_MS).unref()
    }
    return this.#pending.push(one) - 1
  }

  remove(one: PendingWork): void {
    const last = this.#pending.pop()
    if (last === undefined || last === one) return
    this.#pending[one.index] = last
    last.index = one.index
  }

  #check(): void {
    const now = performance.now()
    // time in which this process slept: timers run before the messages that came in it
    const late = Math.max(0, now - this.#checked_at - CHECK_MS)
    this.#checked_at = now
    for (const one of this.#pending) one.due += late
    for (const one of this.#pending.filter(({ due }) => due <= now)) one.giveUp()
    if (this.#pending.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** Work with a callback. */
class DeadlineWork<T> implements PendingWork {
  readonly #limit: number
  readonly #what: string
  #isDone = false
  #error: unknown
  #value: T | undefined
  /** Index among the pending. */
  index = -1
  due = 0
  #resolve: ((value: T) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  readonly #deadlines: Deadlines
  readonly #about: object
  constructor(deadlines: Deadlines, limit: number, what: string, about: object) {
    this.#about = about
    this.#deadlines = deadlines
    this.#limit = limit
    this.#what = what
  }

  readonly done = (error: unknown, value?: T): void => {
    if (this.#isDone) return
    this.#isDone = true
    this.#error = error
    this.#value = value
    if (this.index === -1) return
    this.#deadlines.remove(this)
    if (error) this.#reject?.(error)
    else this.#resolve?.(value as T)
  }

  /** The value if it has called back; else a promise of it. */
  outcome(): T | Promise<T> {
    if (!this.#isDone) return new Promise<T>((resolve, reject) => this.#wait(resolve, reject))
    if (this.#error) throw this.#error
    return this.#value as T
  }

  giveUp(): void {
    const error = new GuardError(
      'INTERNAL',
      `A plugin on "${this.#what}" did not answer within ${this.#limit / 1000} s.`,
    )
    noteErrorOrigin(error, turnOf(this.#about) ?? this.#what)
    this.done(error)
  }

  #wait(resolve: (value: T) => void, reject: (error: unknown) => void): void {
    this.#resolve = resolve
    this.#reject = reject
    this.due = performance.now() + this.#limit
    this.index = this.#deadlines.add(this)
  }
}
