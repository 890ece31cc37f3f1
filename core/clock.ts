/** Wall time and monotonic time, both in milliseconds; tests give their own. */
export interface Clock {
  /** Since 1970, integer. */
  now(): number
  /** Monotonic. */
  tick(): number
}

export const systemClock: Clock = { now: () => Date.now(), tick: () => performance.now() }
