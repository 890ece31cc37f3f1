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

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const AGE = /^(\d{1,6})([smhd])$/
const RFC_3339 = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/i

/** Milliseconds since 1970 of a UTC day or an RFC 3339 time; undefined for other text and for days that no calendar has, which JavaScript takes for later ones. */
export const timeOf = (text: string): number | undefined => {
  const [, day = ''] = RFC_3339.exec(text) ?? []
  const midnight = Date.parse(day)
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** As `timeOf`, also for an age such as 24h, counted back from `now`. */
export const instantOf = (text: string, now: number): number | undefined => {
  const [, count, unit = ''] = AGE.exec(text) ?? []
  return count === undefined ? timeOf(text) : now - Number(count) * (UNITS[unit] ?? 0)
}

/** Whether there is such a time zone: `Europe/Berlin`, or an offset such as `+05:30`. */
export const isTimeZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** The time zone that the system is set to; UTC where it says none that is known. */
export const systemZone = (): string => {
  const zone: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return zone !== undefined && isTimeZone(zone) ? zone : 'UTC'
}
