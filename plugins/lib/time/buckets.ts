import { GuardError } from 'guard-gateway/core'
import { Calendar } from './calendar.ts'
import { timeErrors } from './error-codes.ts'
import { isTimeZone } from './zone.ts'

const HOUR_MS = 3_600_000

export const MOST_BUCKETS = 2_000
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
