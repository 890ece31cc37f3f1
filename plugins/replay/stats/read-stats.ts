import type { Reader } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import { type Buckets, bucketAt } from '#lib/time'
import { Pace } from '#lib/time-slice'
import type { TreeSpan } from '#lib/trace'
import { valueAt } from '../api/attribute-tests.ts'
import { type FoundRuns, findRuns } from '../api/find-runs.ts'
import { callKindOf, countedSpans } from '../read/counted-spans.ts'
import { cachedTokensOf } from '../read/model-tokens.ts'
import { readTrace } from '../read/run.ts'
import { agentOf } from '../read/run-agent.ts'
import { isFailed, knownDuration } from '../read/span-time.ts'
import type { RunRow } from '../tables.ts'
import type { Group, StatsQuery, Subject } from './query.ts'
import { type Counted, type StatsSums, Tally } from './tally.ts'

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
  const query = { ...filters, ...range, sort: 'start', order: 'desc', limit: String(PAGE) }
  let cursor: string | null = null
  do {
    const page: FoundRuns = await findRuns(storage, cursor === null ? query : { ...query, cursor }, now)
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

const NS_PER_MS = 1e6
const GROUP_CHARS = 256

const UNFAILED: ReadonlySet<string> = new Set(['ok', 'running', 'cancelled'])

const countedRun = (run: RunRow): Counted => ({
  failed: !UNFAILED.has(run.status),
  took_ms: run.duration_ns === null ? null : Number(run.duration_ns) / NS_PER_MS,
  input_tokens: Number(run.input_tokens),
  cached_input_tokens: Number(run.cached_input_tokens),
  output_tokens: Number(run.output_tokens),
  cost_micro: Number(run.cost_micro),
})

const countedCall = (span: TreeSpan): Counted => {
  const took = knownDuration(span)
  return {
    failed: isFailed(span),
    took_ms: took === null ? null : Number(took) / NS_PER_MS,
    input_tokens: Number(span.input_tokens ?? 0n),
    cached_input_tokens: Number(cachedTokensOf(span) ?? 0n),
    output_tokens: Number(span.output_tokens ?? 0n),
    cost_micro: Number(span.cost_micro ?? 0n),
  }
}

const KINDS: Readonly<Record<Exclude<Subject, 'runs' | 'calls'>, string>> = {
  models: 'model',
  tools: 'tool',
  commands: 'command',
}

/** True if a call is one of those that are counted. */
const isOf = (of: Exclude<Subject, 'runs'>, span: TreeSpan): boolean => of === 'calls' || callKindOf(span) === KINDS[of]

/** The group of a run. Null: it has none. */
const groupOfRun = (run: RunRow, group: Group): string | null => {
  if (group.by === 'attribute') return textOf(valueAt(run.attributes, group.attribute))
  switch (group.by) {
    case 'none':
    case 'kind':
      return null
    case 'agent':
      return agentOf(run) ?? null
    case 'project':
      return run.project_id
    case 'session':
      return run.session_id
    case 'task':
      return run.task_id
    default:
      return run[group.by]
  }
}

/** The group of a call: its own model, tool, status or attribute, else that of its run. */
const groupOfCall = (span: TreeSpan, run: RunRow, group: Group): string | null => {
  if (group.by === 'attribute')
    return textOf(valueAt(span.attributes, group.attribute) ?? valueAt(run.attributes, group.attribute))
  if (group.by === 'name') return (callKindOf(span) === 'model' ? (span.model ?? span.label) : span.label) ?? span.name
  if (group.by === 'kind') return callKindOf(span) ?? null
  return group.by === 'status' ? span.status : groupOfRun(run, group)
}

const textOf = (value: unknown): string | null => {
  if (value === undefined || value === null || isJsonObject(value)) return null
  return String(value).slice(0, GROUP_CHARS).toWellFormed()
}

/** Series of an answer; the others are one together. */
const MAX_SERIES = 50
/** Groups that are told apart while they are added up. */
const MAX_GROUPS = 2_000
const OTHER = '(other)'

/** The runs or calls of one group. */
interface Series {
  /** Null: those that have no such group, and all where nothing is grouped by. `(other)`: groups that were too many. */
  readonly group: string | null
  readonly totals: StatsSums
  /** In order; those without any are left out. Times are milliseconds since 1970. */
  readonly buckets: readonly (StatsSums & { readonly at: number })[]
}

interface Entry {
  readonly totals: Tally
  readonly buckets: Map<number, Tally>
}

/** Adds up by group and by stretch of time. */
class SeriesTable {
  readonly #buckets: Buckets
  readonly #totals = new Tally()
  readonly #series = new Map<string | null, Entry>()

  constructor(buckets: Buckets) {
    this.#buckets = buckets
  }

  /** `at`: milliseconds since 1970. */
  add(group: string | null, at: number, one: Counted): void {
    const entry = this.#entry(group)
    const bucket = Math.max(0, bucketAt(this.#buckets.starts, at))
    const tally = entry.buckets.get(bucket) ?? new Tally()
    entry.buckets.set(bucket, tally)
    for (const each of [this.#totals, entry.totals, tally]) each.add(one)
  }

  #entry(group: string | null): Entry {
    const known = this.#series.get(group)
    if (known !== undefined) return known
    if (this.#series.size >= MAX_GROUPS && group !== OTHER) return this.#entry(OTHER)
    const entry = { totals: new Tally(), buckets: new Map<number, Tally>() }
    this.#series.set(group, entry)
    return entry
  }

  answer(): { readonly totals: StatsSums; readonly series: readonly Series[] } {
    const sorted = [...this.#series].sort(([, a], [, b]) => b.totals.count - a.totals.count)
    const listed = sorted.slice(0, MAX_SERIES).map(([group, entry]) => this.#seriesOf(group, entry))
    const rest = sorted.slice(MAX_SERIES).map(([, entry]) => entry)
    const others = rest.length === 0 ? [] : [this.#seriesOf(OTHER, merged(rest))]
    return { totals: this.#totals.sums(), series: [...listed, ...others] }
  }

  #seriesOf(group: string | null, { totals, buckets }: Entry): Series {
    const ordered = [...buckets].sort(([a], [b]) => a - b)
    return {
      group,
      totals: totals.sums(),
      buckets: ordered.map(([at, tally]) => ({ at: this.#buckets.starts[at] ?? 0, ...tally.sums() })),
    }
  }
}

const merged = (entries: readonly Entry[]): Entry => {
  const all: Entry = { totals: new Tally(), buckets: new Map() }
  for (const { totals, buckets } of entries) {
    all.totals.addAll(totals)
    for (const [at, tally] of buckets) {
      const into = all.buckets.get(at) ?? new Tally()
      all.buckets.set(at, into)
      into.addAll(tally)
    }
  }
  return all
}
