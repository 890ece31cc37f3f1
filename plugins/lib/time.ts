import { errorCodes, GuardError } from 'guard-gateway/core'
import { Calendar, isTimeZone } from './time/calendar.ts'

export { Calendar, isTimeZone, systemZone, type Window } from './time/calendar.ts'

/** The instant that a parameter gives, milliseconds since 1970. Throws INVALID_REQUEST. */
export const instant = (name: 'since' | 'until', text: string, now: number): number => {
  const at = instantOf(text, now)
  if (at !== undefined) return at
  throw new GuardError(
    'INVALID_REQUEST',
    `"${name}" is not a time: ${text}. Send a day like 2026-01-31, a time like 2026-01-31T12:00:00Z, an age like 24h, today or yesterday.`,
    { path: `/${name}` },
  )
}

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

/** As `timeOf`, also for an age such as 24h, counted back from `now`, and for `today` and `yesterday`, which begin at midnight in `zone`: that of the system if absent. */
export const instantOf = (text: string, now: number, zone?: string): number | undefined => {
  if (text === 'today') return dayBegin(now, zone)
  if (text === 'yesterday') return dayBegin(dayBegin(now, zone) - 1, zone)
  const [, count, unit = ''] = AGE.exec(text) ?? []
  return count === undefined ? timeOf(text) : now - Number(count) * (UNITS[unit] ?? 0)
}

const dayBegin = (at: number, zone?: string): number => new Calendar(zone).windowAt('day', at).start

const HOUR_MS = 3_600_000

const MOST_BUCKETS = 2_000
const STEP_MS = { minute: 60_000, hour: HOUR_MS, '6h': 6 * HOUR_MS, day: 24 * HOUR_MS } as const
/** The last instant that has a date of four digits, and two days less. */
const LATEST = Date.UTC(9999, 11, 30)

/** Stretches of time, in order and without gaps; `end` is the end of the last one. Milliseconds since 1970. */
export interface Buckets {
  readonly starts: readonly number[]
  readonly end: number
  readonly time_zone: string
}

/** `whole`: one bucket, from the hour of `since` to that of `until`. */
export const steps = ['minute', 'hour', '6h', 'day', 'whole'] as const
export type Step = (typeof steps)[number]

/** Which stretches of time a query asks for. Times are milliseconds since 1970. */
export interface BucketsQuery {
  /** The buckets that hold these instants are the first and the last; `until` itself is not included. */
  readonly since: number
  readonly until: number
  readonly step: Step
  /** Where days begin: an IANA name, or an offset such as `+05:30`; UTC if absent. */
  readonly time_zone?: string | undefined
}

/** The buckets that a query is answered in. A day is one of its time zone, and has 23 or 25 hours where clocks are changed. */
export const bucketsOf = ({ since, until, step, time_zone = 'UTC' }: BucketsQuery): Buckets => {
  if (!(since >= 0 && until <= LATEST && since < until))
    throw invalid('until', '"until" must be later than "since", and both lie between 1970 and 9999.')
  if (!isTimeZone(time_zone))
    throw invalid('time_zone', `There is no time zone ${JSON.stringify(time_zone)}. Name one like Europe/Berlin.`)
  if (step === 'whole')
    return { starts: [since - (since % HOUR_MS)], end: Math.ceil(until / HOUR_MS) * HOUR_MS, time_zone }
  if ((until - since) / STEP_MS[step] > MOST_BUCKETS) throw new GuardError(timeErrors.TOO_MANY_BUCKETS)
  const { starts, end } = step === 'day' ? days(since, until, time_zone) : evenly(since, until, STEP_MS[step])
  if (starts.length > MOST_BUCKETS) throw new GuardError(timeErrors.TOO_MANY_BUCKETS)
  return { starts, end, time_zone }
}

/** The place of the bucket that holds an instant; -1 before the first. */
export const bucketAt = (starts: readonly number[], at: number): number => {
  let [from, to] = [0, starts.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((starts[middle] ?? 0) <= at) from = middle + 1
    else to = middle
  }
  return from - 1
}

const invalid = (name: string, message: string) => new GuardError('INVALID_REQUEST', message, { path: `/${name}` })

const evenly = (since: number, until: number, step: number) => {
  const starts: number[] = []
  let at = since - (since % step)
  for (; at < until; at += step) starts.push(at)
  return { starts, end: at }
}

const days = (since: number, until: number, time_zone: string) => {
  const calendar = new Calendar(time_zone)
  const starts: number[] = []
  let { start, end } = calendar.windowAt('day', since)
  for (;;) {
    starts.push(start)
    if (end >= until) return { starts, end }
    ;({ start, end } = calendar.windowAt('day', end))
  }
}

export const timeErrors = errorCodes(400, 'invalid_request_error', {
  TOO_MANY_BUCKETS: ['These are more steps than 2,000', 'Ask for a shorter time, or for a longer step.'],
})
