import { type Clock, timeSince } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import type { ApprovalRow } from './tables.ts'

const MAX_KNOWN = 10_000

/** When the state of an approval was first seen, and until when it lasts by the monotonic clock. */
interface KnownDeadline {
  readonly expires_at: number
  readonly at: number
  readonly tick: number
  readonly until: number
}

/** Ends what is open also by the monotonic clock: setting the wall clock back gives no approval more time. */
export class Deadlines {
  readonly #clock: Clock
  readonly #known = new LRU<KnownDeadline>(MAX_KNOWN)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether the time of an open approval is over, by either clock. */
  isOver(row: ApprovalRow): boolean {
    const now = this.#clock.now()
    if (row.expires_at <= now) return true
    const name = `${row.id} ${row.status}`
    const known = this.#known.get(name)
    // a question that waits again has a time of its own
    if (known?.expires_at === row.expires_at) return this.#clock.tick() >= known.until
    // what was written on another clock lasts no longer than it was meant to from now on
    const span = row.expires_at - (row.decided_at ?? row.created_at)
    const tick = this.#clock.tick()
    const { expires_at } = row
    this.#known.set(name, { expires_at, at: now, tick, until: tick + Math.min(span, expires_at - now) })
    return false
  }

  /** The time at which the waiting for an answer ends, now; counted from its beginning by the monotonic clock where that was seen. */
  waitedUntil({ id, created_at }: ApprovalRow): number {
    const known = this.#known.get(`${id} pending`)
    return Math.max(created_at, known === undefined ? this.#clock.now() : timeSince(this.#clock, known))
  }

  forget(id: string): void {
    for (const status of ['pending', 'allowed', 'denied']) this.#known.delete(`${id} ${status}`)
  }
}
