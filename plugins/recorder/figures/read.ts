import type { Addends, Found, Storage } from 'guard-gateway/core'
import type { CallRecord, FigureGroup, FiguresAnswer, FiguresQuery } from 'guard-gateway/lib/trace'
import { type Buckets, bucketAt, bucketsOf } from './buckets.ts'
import { HOUR_MS, hourOf, startOf } from './hours.ts'
import { measures, measuresOf } from './measures.ts'
import type { HourGroup, HourRow } from './tables.ts'
import { Tallies } from './tally.ts'

/** The name that calls of the Playground have for their upstream. */
const PLAYGROUND = 'playground'
/** Calls that an answer by the minute reads, the newest first, and those of one page. */
const MOST_CALLS = 20_000
const PAGE_ROWS = 500
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
} as const satisfies Record<FigureGroup, keyof HourGroup | undefined>

type Source = Pick<Storage, 'find' | 'sum'>

/**
 * Figures over time. Minutes are read from the calls, hours and days from the sums by hour. A day of a zone whose clocks are not whole hours
 * from UTC is told to the hour: the one in which it begins counts to the day before. `isComplete`: the sums hold every call.
 */
export const readFigures = async (
  storage: Source,
  query: FiguresQuery,
  isComplete: boolean,
): Promise<FiguresAnswer> => {
  const buckets = bucketsOf(query)
  const tallies = new Tallies()
  const isWhole = query.step === 'minute' ? await addMinutes(storage, query, buckets, tallies) : isComplete
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
  ...(playground === true ? { upstream: PLAYGROUND } : {}),
})

/** The group of a row or a call; undefined: it is not asked for. */
const groupOf = ({ group, playground }: FiguresQuery, row: Partial<Readonly<Record<keyof HourGroup, unknown>>>) => {
  if (playground === false && row.upstream === PLAYGROUND) return undefined
  const column = COLUMNS[group]
  return column === undefined ? null : String(row[column] ?? '') || null
}

/** The columns that tell which of the answer's sums a row belongs to. */
const columnsFor = ({ group, playground }: FiguresQuery): readonly (keyof HourGroup)[] => {
  const columns = new Set<keyof HourGroup>(['decision'])
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
  const where = { ...filterOf(query), received_at: { gte: starts[0] ?? 0, lt: end } }
  let read = 0
  let cursor: string | null = null
  do {
    const asked = { where, order: ['received_at', 'desc'], limit: PAGE_ROWS } as const
    const page: Found<CallRecord> = await storage.find('calls', cursor === null ? asked : { ...asked, cursor })
    for (const call of page.rows) {
      const group = groupOf(query, call)
      if (group !== undefined) tallies.add(group, bucketAt(starts, call.received_at), call.decision, measuresOf(call))
    }
    read += page.rows.length
    cursor = page.next_cursor
  } while (cursor !== null && read < MOST_CALLS)
  return cursor === null
}
