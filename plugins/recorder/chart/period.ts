import { instantOf } from '#lib/time'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const STEP_MS = { minute: MINUTE, hour: HOUR, '6h': 6 * HOUR, day: DAY } as const

type Step = keyof typeof STEP_MS

/** Times that are offered: how many bars of which length. They are ages that the list takes for `since`. */
const ranges = {
  '1h': { label: '1 h', title: 'Last hour', step: 'minute', bars: 60 },
  '24h': { label: '24 h', title: 'Last 24 hours', step: 'hour', bars: 24 },
  '7d': { label: '7 d', title: 'Last 7 days', step: '6h', bars: 28 },
  '30d': { label: '30 d', title: 'Last 30 days', step: 'day', bars: 30 },
} as const satisfies Record<string, { label: string; title: string; step: Step; bars: number }>

export type Range = keyof typeof ranges
export const DEFAULT_RANGE: Range = '24h'
export const rangeNames = Object.keys(ranges) as readonly Range[]
export const rangeLabel = (range: Range): string => ranges[range].label

/** The longest step whose bars are still told apart, by the length of the time. */
const STEPS: readonly (readonly [longest: number, step: Step])[] = [
  [90 * MINUTE, 'minute'],
  [48 * HOUR, 'hour'],
  [12 * DAY, '6h'],
  [Infinity, 'day'],
]
/** The longest time that is charted; of a longer one its end is. */
const LONGEST = 31 * DAY
/** The last instant that has a date of four digits, and two days less. */
const LATEST = Date.UTC(9999, 11, 30)

/** The time of charts, in whole bars. Milliseconds since 1970. */
export interface Period {
  readonly since: number
  /** Not included. */
  readonly until: number
  readonly step: Step
  readonly step_ms: number
  readonly bars: number
  /** If it is one of those offered. */
  readonly range: Range | undefined
  /** Undefined: it has a beginning and an end of its own. */
  readonly title: string | undefined
  /** It is the end of a longer time. */
  readonly isCut: boolean
}

/** The time that ends now. Its last bar has not ended. */
export const periodOfRange = (range: Range, now: number): Period => {
  const { step, bars, title } = ranges[range]
  const step_ms = STEP_MS[step]
  const until = Math.max(bars, Math.floor(now / step_ms) + 1) * step_ms
  return { since: until - bars * step_ms, until, step, step_ms, bars, range, title, isCut: false }
}

/** The time that a query asks for: by `range`, or on the list by its `since` and `until`. Undefined if there is no such time. */
export const periodOf = (query: URLSearchParams, now: number, isList: boolean): Period | undefined => {
  const range = rangeOf(query.get('range'))
  const [since, until] = isList ? ['since', 'until'].map((name) => query.get(name) ?? '') : ['', '']
  if (range !== undefined) return periodOfRange(range, now)
  if (!since && !until) return periodOfRange(DEFAULT_RANGE, now)
  const age = rangeOf(since ?? '')
  if (age !== undefined && !until) return periodOfRange(age, now)
  return periodBetween(instant(since, now), instant(until, now), now)
}

const rangeOf = (text: string | null): Range | undefined => rangeNames.find((name) => name === text)

/** As the list reads it, which takes nanoseconds since 1970 too; NaN if it is none. */
const instant = (text: string | undefined, now: number): number | undefined => {
  if (!text) return undefined
  return /^\d{10,19}$/.test(text) ? Number(BigInt(text) / 1_000_000n) : (instantOf(text, now) ?? Number.NaN)
}

const periodBetween = (from: number | undefined, to: number | undefined, now: number): Period | undefined => {
  // what begins later than now was recorded by a clock that has been set back
  const end = Math.min(to ?? now + 1, Math.max(now + 1, (from ?? 0) + DAY), LATEST)
  const requestedStart = from ?? end - LONGEST
  const start = Math.max(requestedStart, end - LONGEST, 0)
  if (!(start < end)) return undefined
  const [, step = 'day'] = STEPS.find(([longest]) => end - start <= longest) ?? []
  const step_ms = STEP_MS[step]
  const since = Math.floor(start / step_ms) * step_ms
  const until = Math.ceil(end / step_ms) * step_ms
  const bars = (until - since) / step_ms
  return {
    since,
    until,
    step,
    step_ms,
    bars,
    range: undefined,
    title: undefined,
    isCut: from === undefined || requestedStart < start,
  }
}

/** What a time is compared with: its bars that have ended, with as many before them. */
export interface Compared {
  /** When those before begin; those of the time itself begin where they end. */
  readonly since: number
  /** End of the bars that have ended. */
  readonly until: number
  readonly words: string
}

/** Undefined for a time that begins soon after 1970, and for minutes, which are read from every call. */
export const comparedOf = ({ since, until, step, step_ms, range }: Period): Compared | undefined => {
  const end = range === undefined ? until : until - step_ms
  const before = since - (end - since)
  if (step === 'minute' || end <= since || before < 0) return undefined
  const bars = (end - since) / step_ms
  const what = bars === 1 ? 'The bar' : `The ${bars} bars that have ended`
  return { since: before, until: end, words: `${what}, against as many before` }
}
