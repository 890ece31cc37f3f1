import type { Clock } from 'guard-gateway/core'

/** Subjects that are known at once; those beyond share one. */
const MAX_SUBJECTS = 1_000
/** Messages of one rule in its time; what comes then is put together by its event. */
const MAX_BURST = 20

/** Something that may come too often. */
interface Throttled {
  readonly event: string
  readonly subject: string
}

/** A subject that has been told of. */
interface Told<T> {
  /** By the monotonic clock. */
  until: number
  /** Wall time of the last message. */
  since: number
  held: number
  last: T
}

/** What passes: one thing at once, or the last of those that were held back since then. */
export type Passed<T> = (item: T, held: number, since: number) => void

/**
 * Lets one thing about a subject pass in a time. What comes meanwhile is held back, counted, and passes as one when the time is over:
 * nothing is lost, however much comes.
 */
export class Throttle<T extends Throttled> {
  readonly #clock: Clock
  readonly #every_ms: number
  readonly #pass: Passed<T>
  readonly #told = new Map<string, Told<T>>()
  #burst = 0
  #burst_until = 0
  #timer: NodeJS.Timeout | undefined

  constructor(clock: Clock, every_ms: number, pass: Passed<T>) {
    this.#clock = clock
    this.#every_ms = every_ms
    this.#pass = pass
  }

  /** How many are held back. */
  get held(): number {
    let held = 0
    for (const told of this.#told.values()) held += told.held
    return held
  }

  take(item: T): void {
    const tick = this.#clock.tick()
    this.#release(tick)
    const told = this.#told.get(`${item.event} ${item.subject}`) ?? this.#shared(item, tick)
    if (told === undefined) {
      this.#burst++
      this.#tell(`${item.event} ${item.subject}`, item, tick)
      return
    }
    told.held++
    told.last = item
  }

  /** Lets everything pass that is held back, and waits for nothing any more. */
  end(): void {
    clearTimeout(this.#timer)
    for (const { last, held, since } of this.#told.values()) if (held > 0) this.#pass(last, held, since)
    this.#told.clear()
  }

  /** In a burst, or where there are too many subjects, that of all of its event. */
  #shared(item: T, tick: number): Told<T> | undefined {
    if (tick >= this.#burst_until) {
      this.#burst = 0
      this.#burst_until = tick + this.#every_ms
    }
    if (this.#burst < MAX_BURST && this.#told.size < MAX_SUBJECTS) return undefined
    const shared = this.#told.get(item.event)
    return shared ?? this.#keep(item.event, item, tick)
  }

  #tell(key: string, item: T, tick: number): void {
    this.#keep(key, item, tick)
    this.#pass(item, 0, this.#clock.now())
  }

  #keep(key: string, last: T, tick: number): Told<T> {
    const told = { until: tick + this.#every_ms, since: this.#clock.now(), held: 0, last }
    this.#told.set(key, told)
    this.#timer ??= setTimeout(() => this.#wake(), this.#every_ms).unref()
    return told
  }

  #wake(): void {
    this.#timer = undefined
    const tick = this.#clock.tick()
    this.#release(tick)
    const [next] = this.#told.values()
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (next !== undefined) this.#timer = setTimeout(() => this.#wake(), Math.max(1, next.until - tick)).unref()
  }

  /** Those whose time is over, the oldest first: they stand in the order in which they were told. */
  #release(tick: number): void {
    for (const [key, told] of this.#told) {
      if (told.until > tick) return
      this.#told.delete(key)
      const { last, held, since } = told
      if (held === 0) continue
      this.#keep(key, last, tick)
      this.#pass(last, held, since)
    }
  }
}
