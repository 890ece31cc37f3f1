import type { Storage } from 'guard-gateway/core'
import { pages } from '#lib/paging'
import type { CallRecord } from '#lib/trace'
import { HOUR_MS, hourOf, startOf } from './figures/hours.ts'
import { durationOf, failures, SUMS } from './figures/measures.ts'
import type { HourRow } from './figures/tables.ts'

/** Which calls count; times are milliseconds since 1970, `until` is not included. */
export interface AggregateRange {
  readonly since?: number
  readonly until?: number
  readonly project_id?: string
}

const DAY_MS = 24 * HOUR_MS
const GROUP = ['project_id', 'agent_id', 'style', 'model_requested', 'upstream'] as const
const BY_DECISION = { allow: 'allowed', shadow_flag: 'flagged', block: 'blocked' } as const
const [REQUESTS, ...REST] = SUMS
/** The cost is last, so that a reader by position finds the others where they were. */
const MEASURES = [REQUESTS, ...Object.values(BY_DECISION), ...REST] as const
type Sums = Record<(typeof MEASURES)[number], number>

/** Half-open, milliseconds since 1970. */
interface Span {
  readonly from: number
  readonly to: number
}

/** What a line is about, and its sums. */
interface Group {
  readonly cells: readonly Cell[]
  readonly sums: Sums
}
type Groups = Map<string, Group>

/**
 * Sums per UTC day, project, agent, style, model and upstream as lines of CSV, oldest day first, of a day those with the most requests;
 * cost in millionths of the billing currency. Whole hours are read from the sums by hour, the rest from the calls.
 */
export async function* aggregatesCsv(
  storage: Pick<Storage, 'find' | 'sum' | 'has' | 'get'>,
  range: AggregateRange,
): AsyncGenerator<string> {
  yield csvLine(['day', ...GROUP, ...MEASURES])
  for await (const { day, groups } of daysOfHours(storage, range)) yield* lines(day, groups)
}

interface Day {
  readonly day: string
  readonly groups: Groups
}

/** From the sums by hour, and at both ends from the calls of a part of an hour. */
async function* daysOfHours(
  storage: Pick<Storage, 'find' | 'sum' | 'has' | 'get'>,
  range: AggregateRange,
): AsyncGenerator<Day> {
  const { since: from = 0, until: to = Infinity } = range
  const project = range.project_id === undefined ? {} : { project_id: range.project_id }
  for (let at: number | undefined = from; ; ) {
    at = await nextHour(storage, project, at, to)
    if (at === undefined) return
    const start = at - (at % DAY_MS)
    const groups: Groups = new Map()
    const span = { from: Math.max(from, start), to: Math.min(to, start + DAY_MS) }
    const whole = { from: Math.ceil(span.from / HOUR_MS) * HOUR_MS, to: Math.floor(span.to / HOUR_MS) * HOUR_MS }
    const parts =
      whole.from > whole.to
        ? [span]
        : [
            { from: span.from, to: whole.from },
            { from: whole.to, to: span.to },
          ]
    if (whole.from < whole.to) await addHours(groups, storage, project, whole)
    for (const part of parts) await addCalls(groups, storage, project, part)
    if (groups.size > 0) yield { day: dayOf(start), groups }
    at = start + DAY_MS
  }
}

/** When the first hour with calls begins that ends after `at`; undefined if it begins at `to` or later. */
const nextHour = async (
  storage: Pick<Storage, 'find'>,
  project: { readonly project_id?: string },
  at: number,
  to: number,
): Promise<number | undefined> => {
  const where = { ...project, hour: { gte: hourOf(at) } }
  const { rows } = await storage.find('calls_by_hour', { where, order: ['hour', 'asc'], limit: 1 })
  const [first] = rows
  if (first === undefined || startOf(first.hour) >= to) return undefined
  return Math.max(at, startOf(first.hour))
}

const addHours = async (
  groups: Groups,
  storage: Pick<Storage, 'sum'>,
  project: { readonly project_id?: string },
  { from, to }: Span,
): Promise<void> => {
  const where = { ...project, hour: { gte: hourOf(from), lt: hourOf(to) } }
  const by = [...GROUP, 'decision'] as const
  for (const { by: row, sums } of await storage.sum('calls_by_hour', { where, order: ['hour', 'asc'], by, of: SUMS })) {
    const group = groupOf(groups, cellsOf(row as HourRow))
    for (const name of SUMS) group[name] += sums[name]
    group[BY_DECISION[row.decision as CallRecord['decision']]] += sums.requests
  }
}

const addCalls = async (
  groups: Groups,
  storage: Pick<Storage, 'find' | 'has' | 'get'>,
  project: { readonly project_id?: string },
  { from, to }: Span,
): Promise<void> => {
  if (from >= to) return
  const found = pages(storage, 'calls', {
    where: where({ ...project, since: from, until: to }),
    order: ['received_at', 'asc'],
  })
  for await (const calls of found) for (const call of calls) addCall(groups, call)
}

const where = ({ since, until, project_id }: AggregateRange) => ({
  ...(since === undefined && until === undefined
    ? {}
    : {
        received_at: { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lt: until }) },
      }),
  ...(project_id === undefined ? {} : { project_id }),
})

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

function* lines(day: string, groups: Groups): Generator<string> {
  const busiest = [...groups.entries()].sort(
    ([oneName, one], [otherName, other]) => other.sums.requests - one.sums.requests || (oneName < otherName ? -1 : 1),
  )
  for (const [, { cells, sums }] of busiest) yield csvLine([day, ...cells, ...MEASURES.map((name) => sums[name])])
}

/** In the sums an empty text stands for none. */
const cellsOf = (row: HourRow): readonly Cell[] =>
  GROUP.map((name) => (row[name] === '' && (name === 'agent_id' || name === 'upstream') ? null : row[name]))

const groupOf = (groups: Groups, cells: readonly Cell[]): Sums => {
  const key = JSON.stringify(cells)
  const known = groups.get(key)
  if (known !== undefined) return known.sums
  const sums = Object.fromEntries(MEASURES.map((name) => [name, 0])) as Sums
  groups.set(key, { cells, sums })
  return sums
}

const addCall = (groups: Groups, call: CallRecord): void => {
  const sums = groupOf(
    groups,
    GROUP.map((name) => call[name]),
  )
  sums.requests++
  sums[BY_DECISION[call.decision]]++
  sums.blocked_retries += call.retries
  if (failures.has(call.outcome)) sums.errors++
  sums.input_tokens += call.input_tokens
  sums.cache_read_tokens += call.cache_read_tokens
  sums.cache_write_tokens += call.cache_write_tokens
  sums.output_tokens += call.output_tokens
  sums.reasoning_tokens += call.reasoning_tokens
  sums.total_tokens += call.total_tokens
  sums.bytes_in += call.bytes_in
  sums.bytes_out += call.bytes_out
  sums.duration_ms += durationOf(call)
  sums.cost_micro += call.cost_micro ?? 0
}

/** A cell: text is quoted and escaped, a number is literal, null is empty. */
type Cell = string | number | null

const GUARDED = new Set(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])

/** One RFC 4180 line with its line end. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(written).join(',')}\r\n`

const written = (cell: Cell): string => {
  if (cell === null) return ''
  return typeof cell === 'number' ? String(cell) : `"${guarded(cell).replaceAll('"', '""')}"`
}

/** Escapes text that a spreadsheet would evaluate as a formula, also after leading blanks. */
const guarded = (text: string): string =>
  GUARDED.has(text.charAt(0)) || GUARDED.has(text.trimStart().charAt(0)) ? `'${text}` : text
