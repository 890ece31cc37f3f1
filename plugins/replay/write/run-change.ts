import type { Attributes, Change } from 'guard-gateway/core'
import { writer } from '#lib/ids'
import type { RunRow } from '../tables.ts'
import type { OpenRun } from './open-run.ts'
import type { Sums } from './run-spans.ts'

/** Updates a run's row with the summary of its records. */
const advance = (run: OpenRun, now_ns: bigint): void => {
  const summary = run.summary()
  const failure = run.failure(summary.status)
  const noise = isNoise(run, summary.status, failure.failure_tag) ? true : null
  const { row } = run
  const attributes = withClockSkew(row.attributes, run.spans.sums)
  run.row = {
    ...row,
    ...summary,
    ...failure,
    noise,
    attributes,
    updated_ns: now_ns,
    revision: row.revision + 1,
    writer,
  }
}

/** Another program's telemetry of its own business: agents report a run for each of their remote calls. */
const isNoise = ({ row, hasCalls }: OpenRun, status: string, tag: RunRow['failure_tag']): boolean =>
  row.origin === 'otlp' && !hasCalls && tag === null && (status === 'ok' || status === 'running')

/** The change that stores the whole row of a run. */
export const runChange = (run: OpenRun, hasNewWords: boolean, now_ns: bigint): Change => {
  const { revision } = run.row
  advance(run, now_ns)
  if (!run.stored) return firstChange(run)
  const { trace_id, words: _words, ...row } = run.row
  const words = hasNewWords ? { words: run.words.all() } : {}
  return { table: 'runs', key: trace_id, patch: { ...row, ...words }, expected: { revision } }
}

/** The change after model requests alone: only changed columns, since each written column costs its indexes. */
export const callChange = (run: OpenRun, hasNewWords: boolean, now_ns: bigint): Change => {
  const before = run.row
  advance(run, now_ns)
  if (!run.stored) return firstChange(run)
  const patch: Record<string, unknown> = hasNewWords ? { words: run.words.all() } : {}
  for (const name of CALL_COLUMNS) if (run.row[name] !== before[name]) patch[name] = run.row[name]
  return { table: 'runs', key: before.trace_id, patch, expected: { revision: before.revision } }
}

const firstChange = (run: OpenRun): Change => {
  run.stored = true
  return { table: 'runs', put: { ...run.row, words: run.words.all() }, when: 'absent' }
}

/** Columns that a model request can change. */
const CALL_COLUMNS = [
  'status',
  'failure_tag',
  'failure_tag_source',
  'failure_evidence',
  'tag_state',
  'start_ns',
  'end_ns',
  'duration_ns',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'total_tokens',
  'cost_micro',
  'span_count',
  'event_count',
  'artifact_count',
  'noise',
  'attributes',
  'updated_ns',
  'revision',
  'writer',
] as const satisfies readonly (keyof RunRow)[]

/** Run attribute: how many nanoseconds before its first top-level span a span below says to have begun. */
const CLOCK_SKEW = 'guard.clock_skew_ns'

/** Clocks of one machine differ by less. */
const MIN_SKEW_NS = 1_000_000_000n

/** The attributes of a run with its clock skew, if there is one. Times of spans stay as they were told. */
const withClockSkew = (attributes: Attributes, { start_ns, earliest_ns }: Readonly<Sums>): Attributes => {
  const skew_ns = start_ns === null || earliest_ns === null ? 0n : start_ns - earliest_ns
  const skew = skew_ns < MIN_SKEW_NS ? undefined : Number(skew_ns)
  if (attributes[CLOCK_SKEW] === skew) return attributes
  const { [CLOCK_SKEW]: _before, ...rest } = attributes
  return skew === undefined ? rest : { ...rest, [CLOCK_SKEW]: skew }
}
