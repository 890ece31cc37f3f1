import type { Given, RunRow } from '../tables.ts'
import type { Sums } from './run-spans.ts'

/** Columns derived from the records of a run. */
export type Summary = Pick<
  RunRow,
  | 'status'
  | 'start_ns'
  | 'end_ns'
  | 'duration_ns'
  | 'input_tokens'
  | 'cached_input_tokens'
  | 'output_tokens'
  | 'total_tokens'
  | 'cost_micro'
  | 'span_count'
  | 'event_count'
  | 'artifact_count'
>

/** Columns derived from the sums over spans. `begun_ns`: the start if neither spans nor writer give one. */
export const summarize = (
  sums: Readonly<Sums>,
  status: string,
  given: Given,
  begun_ns: bigint,
): Omit<Summary, 'span_count' | 'event_count' | 'artifact_count'> => {
  const start_ns = least(given.start_ns, sums.start_ns ?? sums.earliest_ns) ?? begun_ns
  const end_ns = status === 'running' ? null : (greatest(given.end_ns, sums.end_ns) ?? start_ns)
  const ended = end_ns === null || end_ns >= start_ns ? end_ns : start_ns
  return {
    status,
    start_ns,
    end_ns: ended,
    duration_ns: ended === null ? null : ended - start_ns,
    input_tokens: capped(sums.input),
    cached_input_tokens: capped(sums.cached),
    output_tokens: capped(sums.output),
    total_tokens: capped(sums.input + sums.output),
    cost_micro: capped(sums.cost),
  }
}

/** The largest value of a column; thousands of spans may claim more. */
const MAX_SUM = 2n ** 63n - 1n
const capped = (sum: bigint): bigint => (sum > MAX_SUM ? MAX_SUM : sum)

type Instant = bigint | null | undefined
const least = (a: Instant, b: Instant): bigint | null => (a == null ? (b ?? null) : b == null || a < b ? a : b)
const greatest = (a: Instant, b: Instant): bigint | null => (a == null ? (b ?? null) : b == null || a > b ? a : b)
