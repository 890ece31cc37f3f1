import { setImmediate } from 'node:timers/promises'
import type { Service, Services } from 'guard-gateway/core'

/** How long a piece of long work may hold the thread before others have their turn, in milliseconds. */
const TURN_MS = 5

/** Keeps long work from holding the thread: after each of its steps, `if (pace.due) await pace.rest()`. */
export class Pace {
  readonly #now: () => number
  #since: number

  /** `now` in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now
    this.#since = now()
  }

  /** The work has held the thread long enough. */
  get due(): boolean {
    return this.#now() - this.#since >= TURN_MS
  }

  /** Resolves when others have had their turn. */
  async rest(): Promise<void> {
    await setImmediate()
    this.#since = this.#now()
  }
}

/** The results of `step` for each item, in order; others have their turn in between. */
export const mapPaced = async <T, R>(
  items: readonly T[],
  pace: Pace,
  step: (item: T, index: number) => R,
): Promise<R[]> => {
  const results: R[] = []
  for (const [index, item] of items.entries()) {
    results.push(step(item, index))
    if (pace.due) await pace.rest()
  }
  return results
}

/** Goes through all steps; others have their turn in between. */
export const paced = async (steps: Iterable<unknown>, pace: Pace): Promise<void> => {
  for (const _step of steps) if (pace.due) await pace.rest()
}

/** What the steps return: at once where they take no longer than a turn, else as a promise, with the turns of others in between. */
export const inTurns = <R>(steps: Iterator<unknown, R>, pace: Pace): R | Promise<R> => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (pace.due) return continued(steps, pace)
  }
}

const continued = async <R>(steps: Iterator<unknown, R>, pace: Pace): Promise<R> => {
  for (;;) {
    if (pace.due) await pace.rest()
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Does work a minute after it begins, then once a day, in one process of those that share a storage. */
export class Upkeep {
  readonly #cluster: Service<Services['cluster']>
  readonly #fault: (error: unknown) => void
  readonly #work: (isEnding: () => boolean) => Promise<unknown>
  readonly #every_ms: number
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #isEnding = false

  /** `fault` gets what the work throws. */
  constructor(
    cluster: Service<Services['cluster']>,
    fault: (error: unknown) => void,
    work: (isEnding: () => boolean) => Promise<unknown>,
    every_ms = 86_400_000,
  ) {
    this.#cluster = cluster
    this.#fault = fault
    this.#work = work
    this.#every_ms = every_ms
  }

  begin(first_ms = 60_000): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#pass()
    }, first_ms).unref()
  }

  /** Resolves when the work under way has ended. */
  async end(): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #pass(): Promise<void> {
    try {
      if (this.#cluster.get()?.leads ?? true) await this.#work(() => this.#isEnding)
    } catch (error) {
      this.#fault(error)
    }
    if (!this.#isEnding) this.begin(this.#every_ms)
  }
}
