/** Wall time and monotonic time, both in milliseconds; tests give their own. */
export interface Clock {
  /** Since 1970, integer. */
  now(): number
  /** Monotonic. */
  tick(): number
}

/** A moment by both clocks. The monotonic one is not known of moments that another process saw. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Monotonic milliseconds of this process. */
  readonly tick?: number | undefined
}

/** Milliseconds between two moments: by the monotonic clock where it is known of both, so that no setting of the wall clock counts. */
export const elapsed = (from: Moment, to: Moment): number =>
  from.tick === undefined || to.tick === undefined ? to.at - from.at : to.tick - from.tick

/** The moment at which something ended that began at `begun`, `ended_at` by the wall clock of its beginning. */
export const endedMoment = ({ at, tick }: Moment, ended_at: number): Moment =>
  tick === undefined ? { at: ended_at } : { at: ended_at, tick: tick + ended_at - at }

/** Wall time now, counted from a beginning by the monotonic clock: an end is never before it, and the difference is how long it took. Integer. */
export const timeSince = (clock: Clock, begun: Required<Moment>): number =>
  begun.at + Math.max(0, Math.floor(clock.tick() - (begun.tick ?? 0)))

export const systemClock: Clock = { now: () => Date.now(), tick: () => performance.now() }
