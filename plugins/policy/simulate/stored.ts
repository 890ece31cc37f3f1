import { type CallRecord, type Gateway, pages, recordedCalls, type SessionRow } from 'guard-gateway/core'
import type { SimulationRange } from './simulation.ts'

const SESSIONS = 200
/** The most requests of a session that are read, and the most sessions that are looked through for those in range. */
const MOST_CALLS = 5000
const MOST_SESSIONS = 10_000

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
  let read = 0
  for await (const page of pages(storage, 'sessions', { where: { project_id } })) {
    if (read >= MOST_SESSIONS) {
      left.truncated = true
      return
    }
    read += page.length
    yield* page
  }
}

const callsOf = async (
  { storage }: Gateway,
  session_id: string,
  until: number,
  left: Left,
): Promise<readonly CallRecord[]> => {
  const { records, truncated } = await recordedCalls(storage, session_id, MOST_CALLS)
  if (truncated) left.truncated = true
  return records.filter(({ received_at }) => received_at <= until)
}
