import type { Addends, Storage } from 'guard-gateway/core'
import { type Buckets, bucketAt, bucketsOf } from '#lib/time'
import {
  type FigureBucket,
  type FigureGroup,
  type FigureSeries,
  type FigureSums,
  type FiguresAnswer,
  type FiguresQuery,
  isPlayground,
  PLAYGROUND_UPSTREAM,
} from '#lib/trace'
import { OTHER } from './hour-sums.ts'
import { HOUR_MS, hourOf, startOf } from './hours.ts'
import { DURATION_COUNTS, DURATIONS, measures, SUMS } from './measures.ts'
import { minuteCalls } from './minutes.ts'
import type { HourGroup, HourRow } from './tables.ts'

/** Hours that are added up at a time. */
const SPAN_MS = 24 * HOUR_MS

const COLUMNS = {
  none: undefined,
  decision: 'decision',
  reason: 'reason',
  model: 'model_requested',
  agent: 'agent_id',
  project: 'project_id',
  upstream: 'upstream',
} as const satisfies Record<FigureGroup, Exclude<keyof HourGroup, 'hour'> | undefined>

type Source = Pick<Storage, 'sum'>

/**
 * Figures over time. Minutes are read from the calls, hours and days from the sums by hour. A day of a zone whose clocks are not whole hours
 * from UTC is told to the hour: the one in which it begins counts to the day before.
 */
export const readFigures = async (storage: Source, query: FiguresQuery): Promise<FiguresAnswer> => {
  const buckets = bucketsOf(query)
  const tallies = new Tallies()
  const isWhole = query.step === 'minute' ? await addMinutes(storage, query, buckets, tallies) : true
  if (query.step !== 'minute') await addHours(storage, query, buckets, tallies)
  const { starts, end, time_zone } = buckets
  const [since = query.since] = starts
  return {
    ...{ since, until: end, time_zone, complete: isWhole, starts },
    ...{ totals: tallies.totals(), buckets: tallies.buckets(starts), series: tallies.series(starts) },
  }
}

const filterOf = ({ project_id, agent_id, playground }: FiguresQuery) => ({
  ...(project_id === undefined ? {} : { project_id }),
  ...(agent_id === undefined ? {} : { agent_id }),
  ...(playground === true ? { upstream: PLAYGROUND_UPSTREAM } : {}),
})

/** The group of a row or a call; undefined: it is not asked for. */
const groupOf = ({ group, playground }: FiguresQuery, row: Partial<Readonly<Record<keyof HourGroup, unknown>>>) => {
  if (playground === false && isPlayground(row)) return undefined
  const column = COLUMNS[group]
  return column === undefined ? null : String(row[column] ?? '') || null
}

/** Calls have these too. */
type CallColumn = Exclude<keyof HourGroup, 'hour'>

/** The columns that tell which of the answer's sums a row belongs to. */
const columnsFor = ({ group, playground }: FiguresQuery): readonly CallColumn[] => {
  const columns = new Set<CallColumn>(['decision'])
  const column = COLUMNS[group]
  if (column !== undefined) columns.add(column)
  if (playground === false) columns.add('upstream')
  return [...columns]
}

const addHours = async (
  storage: Source,
  query: FiguresQuery,
  { starts, end }: Buckets,
  tallies: Tallies,
): Promise<void> => {
  const columns = columnsFor(query)
  const add = async (from: number, to: number, by: readonly (keyof HourGroup)[], bucketOf: BucketOf): Promise<void> => {
    const where = { ...filterOf(query), hour: { gte: hourOf(from), lt: hourOf(to) } }
    const groups = await storage.sum('calls_by_hour', { where, order: ['hour', 'asc'], by, of: measures })
    for (const { by: row, sums } of groups) {
      const group = groupOf(query, row)
      if (group !== undefined) tallies.add(group, bucketOf(row), String(row.decision), sums as Addends<HourRow>)
    }
  }
  const hours = [...starts, end].map((at) => Math.ceil(at / HOUR_MS) * HOUR_MS)
  const [first = 0, last = 0] = [hours[0], hours.at(-1)]
  if (query.step === 'hour') {
    const bucketOf: BucketOf = ({ hour }) => bucketAt(starts, startOf(String(hour)))
    for (let from = first; from < last; from += SPAN_MS)
      await add(from, Math.min(from + SPAN_MS, last), ['hour', ...columns], bucketOf)
  }
  // fewer groups, since no bucket needs to know its hours
  else
    for (const [bucket, from] of hours.slice(0, -1).entries())
      await add(from, hours[bucket + 1] ?? last, columns, () => bucket)
}

type BucketOf = (row: Partial<Readonly<Record<keyof HourGroup, unknown>>>) => number

/** Resolves to false if there were more calls than are read. */
const addMinutes = async (
  storage: Source,
  query: FiguresQuery,
  { starts, end }: Buckets,
  tallies: Tallies,
): Promise<boolean> => {
  const range = { since: starts[0] ?? 0, until: end, where: filterOf(query), columns: columnsFor(query) }
  const calls = minuteCalls(storage, range)
  for (;;) {
    const { done, value } = await calls.next()
    if (done === true) return value
    const group = groupOf(query, value.call)
    if (group !== undefined) tallies.add(group, bucketAt(starts, value.received_at), value.decision, value.sums)
  }
}

/** Groups that are told apart while they are added up, and those that are told. */
const MAX_GROUPS = 2_000
const MOST_SERIES = 50

const BY_DECISION: Readonly<Record<string, 'allowed' | 'flagged' | 'blocked'>> = {
  allow: 'allowed',
  shadow_flag: 'flagged',
  block: 'blocked',
}

type Counts = Record<Exclude<keyof FigureSums, 'p50_ms' | 'p95_ms'>, number>

const noCounts = (): Counts =>
  Object.fromEntries([...SUMS, ...Object.values(BY_DECISION)].map((name) => [name, 0])) as Counts

/** Sums of some calls, and how long those of them took that were not blocked. */
class Tally {
  readonly #sums = noCounts()
  readonly #took: number[] = DURATION_COUNTS.map(() => 0)

  get requests(): number {
    return this.#sums.requests
  }

  add(decision: string, more: Addends<HourRow>): void {
    for (const name of SUMS) this.#sums[name] += more[name] ?? 0
    const kind = BY_DECISION[decision]
    if (kind !== undefined) this.#sums[kind] += more.requests ?? 0
    if (kind === 'blocked') return
    for (const [at, name] of DURATION_COUNTS.entries()) this.#took[at] = (this.#took[at] ?? 0) + (more[name] ?? 0)
  }

  addAll(other: Tally): void {
    for (const name of Object.keys(this.#sums) as (keyof Counts)[]) this.#sums[name] += other.#sums[name]
    for (const [at, count] of other.#took.entries()) this.#took[at] = (this.#took[at] ?? 0) + count
  }

  figures(): FigureSums {
    return { ...this.#sums, p50_ms: quantile(0.5, this.#took), p95_ms: quantile(0.95, this.#took) }
  }
}

/** The calls of one group, by bucket. */
class Series {
  readonly totals = new Tally()
  readonly #buckets = new Map<number, Tally>()

  at(bucket: number): Tally {
    const known = this.#buckets.get(bucket) ?? new Tally()
    this.#buckets.set(bucket, known)
    return known
  }

  add(bucket: number, decision: string, sums: Addends<HourRow>): void {
    this.totals.add(decision, sums)
    this.at(bucket).add(decision, sums)
  }

  addAll(other: Series): void {
    this.totals.addAll(other.totals)
    for (const [bucket, tally] of other.#buckets) this.at(bucket).addAll(tally)
  }

  buckets(starts: readonly number[]): FigureBucket[] {
    const inOrder = [...this.#buckets].sort(([one], [other]) => one - other)
    return inOrder.map(([bucket, tally]) => ({ at: starts[bucket] ?? 0, ...tally.figures() }))
  }
}

/** Adds calls up by group and bucket. */
class Tallies {
  readonly #all = new Series()
  readonly #series = new Map<string | null, Series>()

  add(group: string | null, bucket: number, decision: string, sums: Addends<HourRow>): void {
    this.#all.add(bucket, decision, sums)
    this.#seriesOf(group).add(bucket, decision, sums)
  }

  totals(): FigureSums {
    return this.#all.totals.figures()
  }

  buckets(starts: readonly number[]): FigureBucket[] {
    return this.#all.buckets(starts)
  }

  series(starts: readonly number[]): FigureSeries[] {
    const others = this.#series.get(OTHER) ?? new Series()
    const named = [...this.#series].filter(([group]) => group !== OTHER)
    const busiest = named.sort(
      ([oneName, one], [otherName, other]) =>
        other.totals.requests - one.totals.requests || ((oneName ?? '') < (otherName ?? '') ? -1 : 1),
    )
    for (const [, series] of busiest.slice(MOST_SERIES)) others.addAll(series)
    const listed = busiest.slice(0, MOST_SERIES)
    if (others.totals.requests > 0) listed.push([OTHER, others])
    return listed.map(([group, series]) => ({
      group,
      totals: series.totals.figures(),
      buckets: series.buckets(starts),
    }))
  }

  #seriesOf(group: string | null): Series {
    const name = this.#series.has(group) || this.#series.size < MAX_GROUPS ? group : OTHER
    const known = this.#series.get(name) ?? new Series()
    this.#series.set(name, known)
    return known
  }
}

/** The duration in milliseconds that this share of calls did not exceed, interpolated between the ends of its stretch; null without calls. Beyond the last end it is that end. */
const quantile = (share: number, counts: readonly number[]): number | null => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total <= 0) return null
  const threshold = share * total
  let before = 0
  for (const [at, end] of DURATIONS.entries()) {
    const count = counts[at] ?? 0
    const start = at === 0 ? 0 : (DURATIONS[at - 1] ?? 0)
    if (count > 0 && before + count >= threshold)
      return Math.round(start + ((threshold - before) / count) * (end - start))
    before += count
  }
  return DURATIONS.at(-1) ?? null
}
