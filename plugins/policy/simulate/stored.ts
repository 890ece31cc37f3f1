import type { CallRecord, Found, Gateway, SessionRow } from 'guard-gateway/core'
import type { SimulationRange } from './simulation.ts'

const SESSIONS = 200
/** The most requests of a session that are read, and the most sessions that are looked through for those in range. */
const MOST_CALLS = 5000
const MOST_SESSIONS = 10_000
const PAGE = 500

/** A session as stored, its requests oldest first. */
export interface StoredSession {
  readonly session: SessionRow
  readonly records: readonly CallRecord[]
}

/** Sessions that were left out, told by whoever reads them. */
export interface Left {
  truncated: boolean
}

/** The stored sessions of a project within a range, newest first, one at a time. */
export async function* storedSessions(
  gateway: Gateway,
  project_id: string,
  range: SimulationRange,
  left: Left,
): AsyncIterable<StoredSession> {
  const { since = 0, until = Number.POSITIVE_INFINITY, limit = SESSIONS } = range
  let taken = 0
  for await (const session of sessionsOf(gateway, project_id, range, left)) {
    if (session.last_seen_at < since || session.created_at > until) continue
    if (taken++ === limit) {
      left.truncated = true
      return
    }
    yield { session, records: await callsOf(gateway, session.id, until, left) }
  }
}

async function* sessionsOf(
  gateway: Gateway,
  project_id: string,
  { session_ids }: SimulationRange,
  left: Left,
): AsyncIterable<SessionRow> {
  const { storage } = gateway
  if (session_ids !== undefined) {
    for (const id of new Set(session_ids)) {
      const session = await storage.get('sessions', id)
      if (session?.project_id === project_id) yield session
    }
    return
  }
  let cursor: string | null = null
  for (let read = 0; read < MOST_SESSIONS; read += PAGE) {
    const page: Found<SessionRow> = await storage.find('sessions', {
      where: { project_id },
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    })
    yield* page.rows
    cursor = page.next_cursor
    if (cursor === null) return
  }
  left.truncated = true
}

const callsOf = async (
  { storage }: Gateway,
  session_id: string,
  until: number,
  left: Left,
): Promise<readonly CallRecord[]> => {
  const records: CallRecord[] = []
  let cursor: string | null = null
  do {
    const page: Found<CallRecord> = await storage.find('calls', {
      where: { session_id },
      order: ['recorded', 'asc'],
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    })
    records.push(...page.rows)
    cursor = page.next_cursor
  } while (cursor !== null && records.length < MOST_CALLS)
  if (cursor !== null) left.truncated = true
  return records
    .filter(({ received_at }) => received_at <= until)
    .sort((a, b) => a.received_at - b.received_at || (a.id < b.id ? -1 : 1))
}
