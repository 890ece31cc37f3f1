import type { Addends, Storage } from 'guard-gateway/core'
import { type Buckets, bucketAt, bucketsOf } from 'guard-gateway/lib/time'
import {
  type FigureGroup,
  type FiguresAnswer,
  type FiguresQuery,
  isPlayground,
  PLAYGROUND_UPSTREAM,
} from 'guard-gateway/lib/trace'
import { HOUR_MS, hourOf, startOf } from './hours.ts'
import { measures } from './measures.ts'
import { minuteCalls } from './minutes.ts'
import type { HourGroup, HourRow } from './tables.ts'
import { Tallies } from './tally.ts'

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
