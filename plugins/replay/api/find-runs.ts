import { type Attributes, type Found, GuardError, type Query, type Reader } from 'guard-gateway/core'
import { datedCursor, parseDatedCursor } from '#lib/paging'
import { namedSession } from '#lib/session'
import { resultAttributes, ToolResults } from '#lib/trace'
import { spanAndEventPages } from '../read/run-records.ts'
import type { RunRow } from '../tables.ts'
import { type AttributeTest, meets, needsRecords } from './attribute-tests.ts'
import { attributeTests, limitOf, oneOf, type RawQuery, runQuery, statuses } from './filters.ts'

/** A page of a list of runs. */
export interface FoundRuns extends Omit<Found<RunRow>, 'cursors'> {}

/**
 * Runs of a list's query. `agent` matches either column of a run that names its agent. `now` is milliseconds since 1970. Throws
 * UNKNOWN_FILTER and INVALID_FILTER.
 */
export const findRuns = async (storage: Reader, query: RawQuery, now: number): Promise<FoundRuns> => {
  const tests = attributeTests(query).filter(needsRecords)
  if (tests.length === 0) return findPage(storage, query, now)
  return runsWithAttributes(storage, tests, limitOf(query), oneOf(query, 'cursor'), (limit, cursor) =>
    findPage(storage, { ...query, limit: String(limit), cursor }, now),
  )
}

/** Runs that the index leads to. */
const findPage = async (storage: Reader, query: RawQuery, now: number): Promise<FoundRuns> => {
  const agent = oneOf(query, 'agent')
  const cursor = oneOf(query, 'cursor')
  const found =
    agent === undefined
      ? await storage.find('runs', await resolvedQuery(storage, query, now))
      : await findRunsOfAgent(storage, query, agent, now)
  return { ...found, next_cursor: datedCursor(found.next_cursor, cursor, now) }
}

/** An agent has two columns and storage tests all columns of a query, so there are two queries; their pages are merged. */
const findRunsOfAgent = async (
  storage: Reader,
  { agent: _agent, cursor = '', ...rest }: RawQuery,
  agent: string,
  now: number,
): Promise<FoundRuns> => {
  const dated = parseDatedCursor(oneOf({ cursor }, 'cursor'), now)
  const [idCursor, nameCursor] = partCursors(dated.cursor)
  const part = async (column: 'agent_id' | 'agent_name', cursor: string | null | undefined): Promise<AgentPart> => {
    const filter = oneOf(rest, column)
    const applies = filter === undefined || filter === agent
    if (cursor === null || !applies) return { from: null, page: NOTHING, applies }
    const query: Query<RunRow> = await resolvedQuery(storage, { ...rest, [column]: agent }, dated.now)
    const page = await storage.find('runs', { ...query, cursors: true, ...(cursor === undefined ? {} : { cursor }) })
    return { from: cursor, page, query, applies }
  }
  const [byId, byName] = await Promise.all([part('agent_id', idCursor), part('agent_name', nameCursor)])
  return mergeParts(byId, byName, agent)
}

const NOTHING: Found<RunRow> = { rows: [], next_cursor: null, truncated: false, cursors: [] }

/** Records of runs that one page reads at most. */
const MAX_RECORDS = 10_000
/** Runs that are read at the same time. */
const AT_ONCE = 16
/** Records of a run in memory at a time. */
const PAGE_ROWS = 256
/** A page with less room than this is full: the index would be asked for ever fewer runs. */
const MIN_ROOM = 10

/** Finds a page of runs: those after `cursor`, at most `limit`. */
type FindPage = (limit: number, cursor: string | undefined) => Promise<FoundRuns>

/**
 * Runs of `find` whose records meet all tests; each test may be met by another record. A page reads 10,000 records at most; then it is
 * `truncated`, and its cursor continues.
 */
const runsWithAttributes = async (
  storage: Reader,
  tests: readonly AttributeTest[],
  limit: number,
  begin: string | undefined,
  find: FindPage,
): Promise<FoundRuns> => {
  const rows: RunRow[] = []
  const budget = { records: MAX_RECORDS }
  let cursor = begin
  for (;;) {
    const page = await find(Math.max(limit - rows.length, 1), cursor)
    for (let at = 0; at < page.rows.length; at += AT_ONCE) {
      const some = page.rows.slice(at, at + AT_ONCE)
      const met = await Promise.all(some.map((row) => meetsAll(storage, row, tests, budget)))
      rows.push(...some.filter((_, index) => met[index]))
    }
    const isFull = rows.length >= limit || (rows.length > 0 && limit - rows.length < MIN_ROOM)
    const truncated = page.truncated || budget.records <= 0
    if (isFull || truncated || page.next_cursor === null)
      return { rows, next_cursor: page.next_cursor, truncated: truncated && !isFull }
    cursor = page.next_cursor
  }
}

const meetsAll = async (
  storage: Reader,
  run: RunRow,
  tests: readonly AttributeTest[],
  budget: { records: number },
): Promise<boolean> => {
  const results = new ToolResults()
  let open = tests.filter((test) => !meets(run.attributes, test))
  const read = (records: Iterable<{ readonly attributes: Attributes }>): void => {
    for (const record of records) open = open.filter((test) => !meets(record.attributes, test))
  }
  for await (const page of open.length === 0 ? [] : spanAndEventPages(storage, run, PAGE_ROWS)) {
    for (const { spans, events, call } of page) {
      budget.records -= spans.length + events.length
      read(spans)
      read(events)
      if (call !== undefined) results.add(call)
    }
    if (open.length === 0) return true
  }
  if (open.length > 0)
    read(Array.from(results.bySpan().values(), (result) => ({ attributes: resultAttributes(result) })))
  return open.length === 0
}

/** A page of the runs that one column finds. `from`: its cursor; undefined at the start, null after the end. */
interface AgentPart {
  readonly from: string | null | undefined
  readonly page: Found<RunRow>
  /** Absent: nothing was read. */
  readonly query?: Query<RunRow>
  /** False: another filter excludes all runs of this column. */
  readonly applies: boolean
}

const SEPARATOR = '~'
const AT_START = '-'

/** The cursors of both parts in the cursor of a page: undefined at the start, null after the end. */
const partCursors = (cursor: string | undefined): readonly (string | null | undefined)[] => {
  if (cursor === undefined) return [undefined, undefined]
  const [byId = '', byName] = cursor.split(SEPARATOR)
  // a cursor of another list is for storage to reject
  return byName === undefined ? [byId, byId] : [byId, byName].map(partCursor)
}

const partCursor = (text: string): string | null | undefined =>
  text === '' ? null : text === AT_START ? undefined : text

const cursorText = (cursor: string | null | undefined): string => (cursor === undefined ? AT_START : (cursor ?? ''))

/** Merges the runs of an agent by id and by name, in their order. A run that both find is the first one's. */
const mergeParts = (byId: AgentPart, byName: AgentPart, agent: string) => {
  const { rows, used } = mergedRows(byId, byName, agent)
  const next = [cursorAfter(byId, used.byId), cursorAfter(byName, used.byName)]
  return {
    rows,
    next_cursor: next.every((cursor) => cursor === null) ? null : next.map(cursorText).join(SEPARATOR),
    truncated: byId.page.truncated || byName.page.truncated,
  }
}

const mergedRows = (byId: AgentPart, byName: AgentPart, agent: string) => {
  const { order = ['recorded', 'desc'] as const, limit = 50 } = byId.query ?? byName.query ?? {}
  const rows: RunRow[] = []
  const used = { byId: 0, byName: 0 }
  const isRepeated = (row: RunRow): boolean => byId.applies && row.agent_id === agent
  while (rows.length < limit && !isSpent(byId, used.byId) && !isSpent(byName, used.byName)) {
    const one = byId.page.rows[used.byId]
    const other = byName.page.rows[used.byName]
    const first = precedes(one, other, order) ? one : other
    if (first === undefined) break
    used[first === one ? 'byId' : 'byName']++
    if (first === one || !isRepeated(first)) rows.push(first)
  }
  return { rows, used }
}

/** The page is used up and is not the last: what the next one holds may come before all else. */
const isSpent = ({ page }: AgentPart, used: number): boolean => used === page.rows.length && page.next_cursor !== null

const cursorAfter = ({ from, page }: AgentPart, used: number): string | null | undefined => {
  if (used >= page.rows.length) return page.next_cursor
  return used === 0 ? from : (page.cursors?.[used - 1] ?? from)
}

type RunOrder = NonNullable<Query<RunRow>['order']>

/** Nulls are last. */
const precedes = (one: RunRow | undefined, other: RunRow | undefined, [column, direction]: RunOrder): boolean => {
  if (one === undefined || other === undefined) return other === undefined
  const name = column === 'recorded' ? 'recorded_ns' : column
  const [left, right] = [one[name] as bigint | null, other[name] as bigint | null]
  if (left === right || left === null || right === null) return right === null || left === right
  return left < right === (direction === 'asc')
}

/** Limit of sessions with one name in several projects. */
const MAX_SESSIONS = 10
/** Limit of statuses in an error. */
const MAX_STATUSES = 20

/** Storage query of a list; a session filter includes every label that its runs may have. `now` is milliseconds since 1970. Throws UNKNOWN_FILTER and INVALID_FILTER. */
const resolvedQuery = async (storage: Reader, query: RawQuery, now: number): Promise<Query<RunRow>> => {
  const requested = runQuery(query, now)
  await checkStatuses(storage, requested)
  const { session_id, project_id } = requested.where ?? {}
  if (typeof session_id !== 'string') return requested
  const labels = await labelsOf(storage, session_id, typeof project_id === 'string' ? project_id : undefined)
  const [only = session_id, ...others] = labels
  if (others.length === 0) return runQuery({ ...query, session_id: only }, now)
  const { session_id: _one, ...rest } = query
  const { where, ...more } = runQuery(rest, now)
  return { ...more, where: { ...where, session_id: { in: labels } } }
}

/** Labels of a session in runs: its id, and its client's name for runs that precede the session. */
const labelsOf = async (
  storage: Reader,
  requested: string,
  project_id: string | undefined,
): Promise<readonly string[]> => {
  const inProject = project_id === undefined ? {} : { project_id }
  const [session, byName, { rows }] = await Promise.all([
    storage.get('sessions', requested),
    namedSession(storage, project_id ?? 'default', requested),
    storage.find('sessions', { where: { external_id: requested, ...inProject }, limit: MAX_SESSIONS }),
  ])
  const isOfProject = project_id === undefined || project_id === session?.project_id
  const name = isOfProject ? session?.external_id : undefined
  const labels = [...new Set([requested, byName, name ?? requested, ...rows.map(({ id }) => id)])]
  const found = labels.map((label) => storage.find('runs', { where: { session_id: label, ...inProject }, limit: 1 }))
  const known = await Promise.all(found)
  return labels.filter((_, at) => known[at]?.rows.length === 1)
}

/** Rejects a status that is not built in and no stored run has, because it is probably misspelled. */
const checkStatuses = async (storage: Reader, { where }: Query<RunRow>): Promise<void> => {
  const { status } = where ?? {}
  const requested = typeof status === 'string' ? [status] : status && 'in' in status ? status.in : []
  for (const status of requested) {
    if (statuses.includes(status)) continue
    const { rows } = await storage.find('runs', { where: { status: status }, limit: 1 })
    if (rows.length > 0) continue
    const known = [...new Set([...statuses, ...(await storedStatuses(storage))])]
    throw new GuardError('INVALID_FILTER', `No run has status "${status}"; there is ${known.join(', ')}.`, {
      path: '/status',
      known,
    })
  }
}

/** Statuses of stored runs, in order of text. */
const storedStatuses = async (storage: Reader): Promise<readonly string[]> => {
  const found: string[] = []
  for (let next = ''; found.length < MAX_STATUSES; ) {
    const { rows } = await storage.find('runs', {
      where: { status: { gte: next } },
      order: ['status', 'asc'],
      limit: 1,
    })
    const [run] = rows
    if (run === undefined) break
    found.push(run.status)
    // the next greater text
    next = `${run.status} `
  }
  return found
}
