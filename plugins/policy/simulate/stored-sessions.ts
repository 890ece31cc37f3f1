import type { Gateway, Reader, SessionRow } from 'guard-gateway/core'
import { pages } from '#lib/paging'
import { type CallRecord, recordedCalls } from '#lib/trace'
import type { Projects } from './projects.ts'
import type { SimulationRange } from './simulation.ts'

const SESSIONS = 200
/** Limits for requests that are read of a session, and for sessions that are searched for those in range. */
const MAX_CALLS = 5000
const MAX_SESSIONS = 10_000
const RESUMES = 1000

/** A session as stored, its requests oldest first. */
export interface StoredSession {
  readonly session: SessionRow
  readonly records: readonly CallRecord[]
  /** When it was resumed, oldest first. */
  readonly resumes: readonly number[]
}

/** Set when a limit has left sessions or requests out. */
export interface Truncation {
  truncated: boolean
}

/** The stored sessions of some projects within a range, newest first, one at a time. */
export async function* storedSessions(
  gateway: Gateway,
  projects: Projects,
  range: SimulationRange,
  truncation: Truncation,
): AsyncIterable<StoredSession> {
  const { since = 0, until = Number.POSITIVE_INFINITY, limit = SESSIONS } = range
  let taken = 0
  for await (const session of sessionsOf(gateway, projects, range, truncation)) {
    if (session.last_seen_at < since || session.created_at > until) continue
    if (taken++ === limit) {
      truncation.truncated = true
      return
    }
    const records = await callsOf(gateway, session.id, until, truncation)
    yield { session, records, resumes: await resumesOf(gateway, session) }
  }
}

async function* sessionsOf(
  gateway: Gateway,
  projects: Projects,
  { session_ids }: SimulationRange,
  truncation: Truncation,
): AsyncIterable<SessionRow> {
  const { storage } = gateway
  if (session_ids !== undefined) return yield* namedSessions(storage, projects, session_ids)
  let read = 0
  for await (const page of pages(storage, 'sessions', { where: projects.where })) {
    if (read >= MAX_SESSIONS) {
      truncation.truncated = true
      return
    }
    read += page.length
    yield* page.filter(projects.has)
  }
}

/** Sessions of the projects by their ids, or by those that their clients know them by; each once. Unknown ids are skipped. */
async function* namedSessions(
  storage: Reader,
  { where, has }: Projects,
  ids: readonly string[],
): AsyncGenerator<SessionRow, void> {
  const yielded = new Set<string>()
  for (const id of ids) {
    const known = await storage.get('sessions', id)
    const [session] =
      known !== undefined && has(known)
        ? [known]
        : (await storage.find('sessions', { where: { ...where, external_id: id } })).rows.filter(has)
    if (session === undefined || yielded.has(session.id)) continue
    yielded.add(session.id)
    yield session
  }
}

const callsOf = async (
  { storage }: Gateway,
  session_id: string,
  until: number,
  truncation: Truncation,
): Promise<readonly CallRecord[]> => {
  const { records, truncated } = await recordedCalls(storage, session_id, MAX_CALLS)
  if (truncated) truncation.truncated = true
  return records.filter(({ received_at }) => received_at <= until)
}

/** The last resume is on the session, earlier ones are in its history. */
const resumesOf = async ({ storage }: Gateway, { id, resumed_at }: SessionRow): Promise<readonly number[]> => {
  if (resumed_at === null) return []
  const where = { session_id: id, name: 'session.resumed', at: { lt: resumed_at } }
  const { rows } = await storage.find('session_events', { where, order: ['recorded', 'asc'], limit: RESUMES })
  return [...rows.map(({ at }) => at), resumed_at]
}
