import { GuardError } from '../errors.ts'

const LOOK_MS = 250

/**
 * Everything that somebody waits for with a limit: one timer looks after all of it, since nearly all of it ends in time.
 * An array: a set that churns leaves tables behind which keep what they held alive.
 */
const waiting: Work<never>[] = []
let timer: NodeJS.Timeout | undefined

const look = (): void => {
  const now = performance.now()
  for (const work of waiting.filter(({ due }) => due <= now)) work.giveUp()
  if (waiting.length > 0) return
  clearInterval(timer)
  timer = undefined
}

/** Work that calls back. */
class Work<T> {
  readonly #limit: number
  readonly #what: string
  #isOver = false
  #error: unknown
  #value: T | undefined
  /** Position among those waiting. */
  #place = -1
  due = 0
  #resolve: ((value: T) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  constructor(limit: number, what: string) {
    this.#limit = limit
    this.#what = what
  }

  readonly done = (error: unknown, value?: T): void => {
    if (this.#isOver) return
    this.#isOver = true
    this.#error = error
    this.#value = value
    if (this.#place === -1) return
    this.#leave()
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
    this.#place = waiting.length
    waiting.push(this as unknown as Work<never>)
    timer ??= setInterval(look, LOOK_MS)
  }

  #leave(): void {
    const last = waiting.pop() as Work<T> | undefined
    if (last === undefined || last === this) return
    waiting[this.#place] = last as unknown as Work<never>
    last.#place = this.#place
  }
}

/**
 * Begins work that calls back, and gives its value: at once where it has called back already, since each promise on the way of a request costs.
 * After `limit` milliseconds, give or take a quarter of a second, it counts as thrown.
 */
export const within = <T>(
  limit: number,
  what: string,
  begin: (done: (error: unknown, value?: T) => void) => void,
): T | Promise<T> => {
  const work = new Work<T>(limit, what)
  begin(work.done)
  return work.outcome()
}
