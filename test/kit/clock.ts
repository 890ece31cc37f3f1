import type { Clock } from 'guard-gateway/core'

/** A clock that stands still until told otherwise. */
export interface FakeClock extends Clock {
  /** Moves both times on. */
  advance(ms: number): void
  /** Moves wall time alone, also backwards. */
  jump(ms: number): void
}

export const fakeClock = (start = Date.UTC(2026, 0, 1), ticks = 0): FakeClock => {
  let now = start
  let tick = ticks
  return {
    now: () => now,
    tick: () => tick,
    advance: (ms) => {
      now += ms
      tick += ms
    },
    jump: (ms) => {
      now += ms
    },
  }
}
