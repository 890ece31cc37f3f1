import type { Reader } from 'guard-gateway/core'
import { Pace } from 'guard-gateway/lib/time-slice'
import { type FoundRuns, findRuns } from '../api/find-runs.ts'
import { countedSpans } from '../read/counted-spans.ts'
import { readTrace } from '../read/run.ts'
import type { RunRow } from '../tables.ts'
import { countedCall, countedRun, groupOfCall, groupOfRun, isOf } from './counted.ts'
import type { StatsQuery, Subject } from './query.ts'
import { type Series, SeriesTable } from './series-table.ts'
import type { StatsSums } from './tally.ts'

/** What one answer reads at most: runs, and records of runs where it is about calls. */
export interface StatsLimits {
  readonly runs: number
  readonly records: number
}

const LIMITS: StatsLimits = { runs: 50_000, records: 100_000 }
/** Runs of a page. */
const PAGE = 200
/** Runs that are read at the same time. */
const AT_ONCE = 4

export interface Stats {
  /** How many runs were read, the newest first. */
  readonly runs: number
  /** False: there are more runs than one answer reads. */
  readonly complete: boolean
  /** Begin of the oldest run that was read, milliseconds since 1970; null without runs. */
  readonly covered_since: number | null
  readonly totals: StatsSums
  readonly series: readonly Series[]
}

/** Sums and percentiles of runs that began in a time, or of the calls in them that did. `now`: milliseconds since 1970. */
export const readStats = async (storage: Reader, query: StatsQuery, now: number, limits = LIMITS): Promise<Stats> => {
  const table = new SeriesTable(query.buckets)
  let [runs, records] = [0, 0]
  let covered_since: number | null = null
  let complete = true
  const pace = new Pace()
  for await (const { rows, isLast } of someRuns(storage, query, now)) {
    if (pace.due) await pace.rest()
    await Promise.all(rows.map((run) => addRun(storage, query, run, table)))
    runs += rows.length
    for (const run of rows) {
      records += run.span_count + run.event_count
      covered_since = startOf(run)
    }
    complete = isLast || (runs < limits.runs && (query.of === 'runs' || records < limits.records))
    if (!complete) break
  }
  return { ...table.answer(), runs, complete, covered_since }
}

/** Runs of a query, the latest first, some at a time. */
async function* someRuns(
  storage: Reader,
  { filters, since, until }: StatsQuery,
  now: number,
): AsyncGenerator<{ readonly rows: readonly RunRow[]; readonly isLast: boolean }> {
  const range = { since: `${Math.max(0, since)}000000`, until: `${until}000000` }
  const asked = { ...filters, ...range, sort: 'start', order: 'desc', limit: String(PAGE) }
  let cursor: string | null = null
  do {
    const page: FoundRuns = await findRuns(storage, cursor === null ? asked : { ...asked, cursor }, now)
    for (let at = 0; at < page.rows.length; at += AT_ONCE) {
      const isLast = at + AT_ONCE >= page.rows.length && page.next_cursor === null
      yield { rows: page.rows.slice(at, at + AT_ONCE), isLast }
    }
    cursor = page.next_cursor
  } while (cursor !== null)
}

const startOf = ({ start_ns }: { readonly start_ns: bigint }): number => Number(start_ns / 1_000_000n)

const addRun = async (storage: Reader, query: StatsQuery, run: RunRow, table: SeriesTable): Promise<void> => {
  const { of, group } = query
  if (of === 'runs') table.add(groupOfRun(run, group), startOf(run), countedRun(run))
  else await addCalls(storage, { ...query, of }, run, table)
}

const addCalls = async (
  storage: Reader,
  { of, group, since, until }: StatsQuery & { readonly of: Exclude<Subject, 'runs'> },
  run: RunRow,
  table: SeriesTable,
): Promise<void> => {
  // a run may be removed meanwhile
  const trace = await readTrace(storage, run.trace_id).catch(() => undefined)
  for (const span of trace === undefined ? [] : countedSpans(trace.spans)) {
    const at = startOf(span)
    if (isOf(of, span) && at >= since && at < until) table.add(groupOfCall(span, run, group), at, countedCall(span))
  }
}
