import type { Found, Reader } from 'guard-gateway/core'
import type { CallRecord, SessionEvent } from 'guard-gateway/lib/trace'
import { DECISION, decisionV1, type EventV1, eventV1 } from './events.ts'
import { END, openPlaces, type Place, sealPlaces } from './history-cursor.ts'

const PAGE_EVENTS = 500

/** What is asked of a session's history; `asc`: the order in which its entries were recorded. */
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
  /** The page ended early; the cursor goes on. */
  readonly truncated: boolean
}

/** An event with what it is ordered by: when it was recorded, in milliseconds, then the time-ordered part of its id. */
interface Entry {
  readonly at: number
  readonly mark: string
  readonly event: EventV1
}

/** What one table gives to a page. */
interface Side {
  readonly entries: readonly Entry[]
  readonly from: Place
  readonly cursors: readonly string[]
  readonly next: string | null
  readonly truncated: boolean
}

/** One page of a session's history: the decisions, as the records of its calls tell them, and its other events in one order. Throws INVALID_CURSOR. */
export const historyPage = async (storage: Reader, query: HistoryQuery): Promise<HistoryPage> => {
  const places = openPlaces(query.cursor)
  const [decisions, others] = await Promise.all([
    decisionsOf(storage, query, places.decisions),
    othersOf(storage, query, places.others),
  ])
  const { events, used } = merged(decisions, others, query)
  const more = hasMore(decisions, used.decisions) || hasMore(others, used.others)
  if (!more) return { events, next_cursor: null, truncated: false }
  return {
    events,
    next_cursor: sealPlaces({
      decisions: placeBehind(decisions, used.decisions, query.order),
      others: placeBehind(others, used.others, query.order),
    }),
    truncated: events.length < query.limit && (decisions.truncated || others.truncated),
  }
}

/** A session's whole history, oldest first. */
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

const paging = ({ order, limit }: HistoryQuery, from: Place) => ({
  order: ['recorded', order] as const,
  limit,
  cursors: true,
  ...(from === null ? {} : { cursor: from }),
})

const decisionsOf = async (storage: Reader, query: HistoryQuery, from: Place): Promise<Side> => {
  const { session_id, decision, name = DECISION } = query
  if (from === END || name !== DECISION) return NOTHING
  const where = { session_id, ...(decision === undefined ? {} : { decision }) }
  const found = await storage.find('calls', { where, ...paging(query, from) })
  return side(found, from, (call) => ({
    at: call.ended_at,
    mark: markOf(call.id),
    event: decisionV1(call, session_id),
  }))
}

const othersOf = async (storage: Reader, query: HistoryQuery, from: Place): Promise<Side> => {
  const { session_id, decision, name } = query
  if (from === END || decision !== undefined || name === DECISION) return NOTHING
  // rows of decisions were written by an earlier version, and their calls tell the same
  const where = { session_id, decision: null, ...(name === undefined ? {} : { name }) }
  const found = await storage.find('session_events', { where, ...paging(query, from) })
  return side(found, from, (event: SessionEvent) => ({ at: event.at, mark: markOf(event.id), event: eventV1(event) }))
}

const NOTHING: Side = { entries: [], from: END, cursors: [], next: null, truncated: false }

const side = <R>({ rows, cursors, next_cursor, truncated }: Found<R>, from: Place, entry: (row: R) => Entry): Side => ({
  entries: rows.map(entry),
  from,
  cursors: cursors ?? [],
  next: next_cursor,
  truncated,
})

const markOf = (id: string): string => id.slice(id.indexOf('_') + 1)

/** Takes from both sides what comes next, until the page is full or a side has more that is not read yet. */
const merged = (decisions: Side, others: Side, { order, limit }: HistoryQuery) => {
  const events: EventV1[] = []
  const used = { decisions: 0, others: 0 }
  while (events.length < limit && !isWaiting(decisions, used.decisions) && !isWaiting(others, used.others)) {
    const call = decisions.entries[used.decisions]
    const other = others.entries[used.others]
    const first = comesFirst(call, other, order)
    const entry = first ? call : other
    if (entry === undefined) break
    events.push(entry.event)
    used[first ? 'decisions' : 'others']++
  }
  return { events, used }
}

const isWaiting = ({ entries, next }: Side, used: number): boolean => used === entries.length && next !== null

const comesFirst = (a: Entry | undefined, b: Entry | undefined, order: 'asc' | 'desc'): boolean => {
  if (a === undefined || b === undefined) return b === undefined
  return (a.at === b.at ? a.mark < b.mark : a.at < b.at) === (order === 'asc')
}

const hasMore = ({ entries, next }: Side, used: number): boolean => used < entries.length || next !== null

/** Where a side goes on. What comes meanwhile belongs behind the end of the oldest first, and before the newest first. */
const placeBehind = ({ entries, from, cursors, next }: Side, used: number, order: 'asc' | 'desc'): Place => {
  if (used < entries.length) return used === 0 ? from : (cursors[used - 1] ?? from)
  if (next !== null) return next
  return order === 'desc' ? END : (cursors.at(-1) ?? from)
}
