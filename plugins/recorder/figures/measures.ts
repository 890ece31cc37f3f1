import type { Outcome } from 'guard-gateway/core'
import type { CallRecord } from '#lib/trace'

/** Columns that calls are summed up in. */
export const SUMS = [
  'requests',
  'blocked_retries',
  'errors',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'total_tokens',
  'bytes_in',
  'bytes_out',
  'duration_ms',
  'cost_micro',
] as const
/** Sums that are no columns of a call. */
const DERIVED = ['requests', 'blocked_retries', 'errors', 'duration_ms'] as const
type Derived = (typeof DERIVED)[number]
const derived: ReadonlySet<string> = new Set(DERIVED)
/** Columns of a call that are summed up as they are. */
export const CALL_SUMS = SUMS.filter((name): name is Exclude<(typeof SUMS)[number], Derived> => !derived.has(name))

/** Upper ends of the stretches that durations are counted in, milliseconds; the last stretch has none. Stored: one changes only with a new column. */
export const DURATIONS = [100, 250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 45_000, 120_000, 300_000] as const
/** Columns that count the calls of each stretch. */
export const DURATION_COUNTS = [
  'took_100ms',
  'took_250ms',
  'took_500ms',
  'took_1s',
  'took_2s',
  'took_5s',
  'took_10s',
  'took_20s',
  'took_45s',
  'took_120s',
  'took_300s',
  'took_longer',
] as const

export const measures = [...SUMS, ...DURATION_COUNTS] as const
export type Measure = (typeof measures)[number]

/** Outcomes of calls in which an upstream failed. */
export const failures: ReadonlySet<Outcome> = new Set<Outcome>(['upstream_error', 'unreachable', 'truncated'])

export const durationOf = ({ received_at, ended_at }: Pick<CallRecord, 'received_at' | 'ended_at'>): number =>
  Math.max(0, ended_at - received_at)

/** What a call adds to its hour. */
export const measuresOf = (call: CallRecord): Readonly<Record<Measure, number>> => {
  const duration = safe(durationOf(call))
  const stretch = stretchOf(duration)
  const took = (at: number): number => (at === stretch ? 1 : 0)
  // the members always stand in the same order, so that all calls are written by one statement
  return {
    requests: 1,
    blocked_retries: safe(call.retries),
    errors: failures.has(call.outcome) ? 1 : 0,
    input_tokens: safe(call.input_tokens),
    cache_read_tokens: safe(call.cache_read_tokens),
    cache_write_tokens: safe(call.cache_write_tokens),
    output_tokens: safe(call.output_tokens),
    reasoning_tokens: safe(call.reasoning_tokens),
    total_tokens: safe(call.total_tokens),
    bytes_in: safe(call.bytes_in),
    bytes_out: safe(call.bytes_out),
    duration_ms: duration,
    cost_micro: safe(call.cost_micro ?? 0),
    took_100ms: took(0),
    took_250ms: took(1),
    took_500ms: took(2),
    took_1s: took(3),
    took_2s: took(4),
    took_5s: took(5),
    took_10s: took(6),
    took_20s: took(7),
    took_45s: took(8),
    took_120s: took(9),
    took_300s: took(10),
    took_longer: took(11),
  }
}

const stretchOf = (duration: number): number => {
  const at = DURATIONS.findIndex((end) => duration <= end)
  return at === -1 ? DURATIONS.length : at
}

/** What upstreams report may be anything. */
export const safe = (value: number): number =>
  Number.isSafeInteger(value)
    ? value
    : Math.trunc(Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, value))) || 0
