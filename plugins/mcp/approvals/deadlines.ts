import type { Clock } from 'guard-gateway/core'
import type { ApprovalRow } from './tables.ts'

const MAX_KNOWN = 10_000

/** Ends what is open also by the monotonic clock: setting the wall clock back gives no approval more time. */
export class Deadlines {
  readonly #clock: Clock
  readonly #known = new Map<string, { readonly expires_at: number; readonly tick: number }>()

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
    if (known?.expires_at === row.expires_at) return this.#clock.tick() >= known.tick
    // what was written on another clock lasts no longer than it was meant to from now on
    const span = row.expires_at - (row.decided_at ?? row.created_at)
    const tick = this.#clock.tick() + Math.min(span, row.expires_at - now)
    this.#known.set(name, { expires_at: row.expires_at, tick })
    if (this.#known.size > MAX_KNOWN) this.#forgetOldest()
    return false
  }

  forget(id: string): void {
    for (const status of ['pending', 'allowed', 'denied']) this.#known.delete(`${id} ${status}`)
  }

  #forgetOldest(): void {
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest)
      return
    }
  }
}
