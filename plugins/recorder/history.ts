import { type Found, GuardError, type Reader } from 'guard-gateway/core'
import { type CallRecord, decisionAttributes, decisionEventId, type SessionEvent } from '#lib/trace'

/** Position in one table: a storage cursor, or null for the start. */
type TableCursor = string | null
/** End of the table. */
const END = ''

/** Positions in both tables of a history. */
interface HistoryCursor {
  readonly decisions: TableCursor
  readonly others: TableCursor
}

const encodeCursor = ({ decisions, others }: HistoryCursor): string =>
  Buffer.from(JSON.stringify([decisions, others])).toString('base64url')

const isTableCursor = (value: unknown): value is TableCursor => value === null || typeof value === 'string'

const parsed = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** Decodes a cursor of `encodeCursor`. Throws INVALID_CURSOR for any other. The storage checks each table's cursor. */
const decodeCursor = (cursor: string | undefined): HistoryCursor => {
  if (cursor === undefined) return { decisions: null, others: null }
  const tables = parsed(cursor)
  if (Array.isArray(tables) && tables.length === 2) {
    const [decisions, others]: unknown[] = tables
    if (isTableCursor(decisions) && isTableCursor(others)) return { decisions, others }
  }
  throw new GuardError(
    'INVALID_CURSOR',
    'The cursor is none of a session history. Start again without a cursor, and pass on "next_cursor" as it came.',
  )
}

const PAGE_EVENTS = 500

/** A query of a session's history. `asc` is the order of recording. */
export interface HistoryQuery {
  readonly session_id: string
  readonly decision?: CallRecord['decision']
  readonly name?: string
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly cursor?: string
}

export interface HistoryPage {
  readonly events: readonly EventV1[]
  readonly next_cursor: string | null
  /** The page is incomplete; its cursor continues. */
  readonly truncated: boolean
}

/** An event and its sort key: record time in milliseconds, then the time-ordered part of its id. */
interface Entry {
  readonly at: number
  readonly tiebreak: string
  readonly event: EventV1
}

interface TablePage {
  readonly entries: readonly Entry[]
  readonly from: TableCursor
  readonly cursors: readonly string[]
  readonly next: string | null
  readonly truncated: boolean
}

/** A page of a session's history: decisions from its calls, merged with its other events. Throws INVALID_CURSOR. */
export const historyPage = async (storage: Reader, query: HistoryQuery): Promise<HistoryPage> => {
  const tables = decodeCursor(query.cursor)
  const [decisions, others] = await Promise.all([
    decisionsOf(storage, query, tables.decisions),
    sessionEventsOf(storage, query, tables.others),
  ])
  const { events, used } = merged(decisions, others, query)
  const more = hasMore(decisions, used.decisions) || hasMore(others, used.others)
  if (!more) return { events, next_cursor: null, truncated: false }
  return {
    events,
    next_cursor: encodeCursor({
      decisions: cursorAfter(decisions, used.decisions, query.order),
      others: cursorAfter(others, used.others, query.order),
    }),
    truncated: events.length < query.limit && (decisions.truncated || others.truncated),
  }
}

/** A session's complete history, oldest first. */
export async function* history(storage: Reader, session_id: string): AsyncGenerator<readonly EventV1[]> {
  let cursor: string | null = null
  do {
    const page: HistoryPage = await historyPage(storage, {
      session_id,
      order: 'asc',
      limit: PAGE_EVENTS,
      ...(cursor === null ? {} : { cursor }),
    })
    yield page.events
    cursor = page.next_cursor
  } while (cursor !== null)
}

const paging = ({ order, limit }: HistoryQuery, from: TableCursor) => ({
  order: ['recorded', order] as const,
  limit,
  cursors: true,
  ...(from === null ? {} : { cursor: from }),
})

const decisionsOf = async (storage: Reader, query: HistoryQuery, from: TableCursor): Promise<TablePage> => {
  const { session_id, decision, name = DECISION } = query
  if (from === END || name !== DECISION) return EMPTY_PAGE
  const where = { session_id, ...(decision === undefined ? {} : { decision }) }
  const found = await storage.find('calls', { where, ...paging(query, from) })
  return tablePage(found, from, (call) => ({
    at: call.ended_at,
    tiebreak: tiebreakOf(call.id),
    event: decisionV1(call, session_id),
  }))
}

const sessionEventsOf = async (storage: Reader, query: HistoryQuery, from: TableCursor): Promise<TablePage> => {
  const { session_id, decision, name } = query
  if (from === END || decision !== undefined || name === DECISION) return EMPTY_PAGE
  const where = { session_id, ...(name === undefined ? {} : { name }) }
  const found = await storage.find('session_events', { where, ...paging(query, from) })
  return tablePage(found, from, (event: SessionEvent) => ({
    at: event.at,
    tiebreak: tiebreakOf(event.id),
    event: eventV1(event),
  }))
}

const EMPTY_PAGE: TablePage = { entries: [], from: END, cursors: [], next: null, truncated: false }

const tablePage = <R>(
  { rows, cursors, next_cursor, truncated }: Found<R>,
  from: TableCursor,
  entry: (row: R) => Entry,
): TablePage => ({
  entries: rows.map(entry),
  from,
  cursors: cursors ?? [],
  next: next_cursor,
  truncated,
})

const tiebreakOf = (id: string): string => id.slice(id.indexOf('_') + 1)

/** Merges both tables until the page is full or a table has unread rows. */
const merged = (decisions: TablePage, others: TablePage, { order, limit }: HistoryQuery) => {
  const events: EventV1[] = []
  const used = { decisions: 0, others: 0 }
  while (events.length < limit && !needsMore(decisions, used.decisions) && !needsMore(others, used.others)) {
    const call = decisions.entries[used.decisions]
    const other = others.entries[used.others]
    const first = precedes(call, other, order)
    const entry = first ? call : other
    if (entry === undefined) break
    events.push(entry.event)
    used[first ? 'decisions' : 'others']++
  }
  return { events, used }
}

const needsMore = ({ entries, next }: TablePage, used: number): boolean => used === entries.length && next !== null

const precedes = (a: Entry | undefined, b: Entry | undefined, order: 'asc' | 'desc'): boolean => {
  if (a === undefined || b === undefined) return b === undefined
  return (a.at === b.at ? a.tiebreak < b.tiebreak : a.at < b.at) === (order === 'asc')
}

const hasMore = ({ entries, next }: TablePage, used: number): boolean => used < entries.length || next !== null

/** The cursor after the used rows of a table. New rows appear at the end of an ascending order, and before the start of a descending one. */
const cursorAfter = ({ entries, from, cursors, next }: TablePage, used: number, order: 'asc' | 'desc'): TableCursor => {
  if (used < entries.length) return used === 0 ? from : (cursors[used - 1] ?? from)
  if (next !== null) return next
  return order === 'desc' ? END : (cursors.at(-1) ?? from)
}

/** Event name of a request's decision in its session's history. */
const DECISION = 'policy.decision'

/** An event of the history. */
interface EventV1 {
  readonly schema: 'event.v1'
  readonly id: string
  readonly name: string
  /** Nanoseconds since 1970. */
  readonly time_ns: bigint
  readonly time: string
  readonly trace_id: string | null
  readonly span_id: string | null
  readonly session_id: string
  readonly project_id: string
  readonly agent_id: string | null
  readonly request_id: string | null
  readonly origin: 'gateway'
  readonly severity: SessionEvent['severity']
  readonly attributes: Readonly<Record<string, unknown>>
}

const timed = (at: number) => ({ time_ns: BigInt(at) * 1_000_000n, time: new Date(at).toISOString() })

/** The decision of a stored call. A call always has the same event id. */
const decisionV1 = (call: CallRecord, session_id: string): EventV1 => ({
  schema: 'event.v1',
  id: decisionEventId(call.id),
  name: DECISION,
  ...timed(call.received_at),
  trace_id: call.trace_id,
  span_id: call.span_id,
  session_id,
  project_id: call.project_id,
  agent_id: call.agent_id,
  request_id: call.id,
  origin: 'gateway',
  severity: call.decision === 'allow' ? 'info' : 'warn',
  attributes: decisionAttributes(call),
})

/** An event of a session other than a request. */
const eventV1 = (event: SessionEvent): EventV1 => ({
  schema: 'event.v1',
  id: event.id,
  name: event.name,
  ...timed(event.at),
  trace_id: null,
  span_id: null,
  session_id: event.session_id,
  project_id: event.project_id,
  agent_id: event.agent_id,
  request_id: event.request_id,
  origin: 'gateway',
  severity: event.severity,
  attributes: event.attributes ?? {},
})
