import { type Found, type Gateway, GuardError, type Session, type SessionRow } from 'guard-gateway/core'
import type { Static } from 'typebox'
import { storedId } from '#lib/ids'
import { onlySession } from '#lib/session'
import type { LiveSessions, SessionOrigin } from './live.ts'
import type { sessionsQuery } from './schemas.ts'

/** Filters of a list as columns. */
export const originOf = ({
  rule_id,
  playground,
  ...equal
}: Omit<Static<typeof sessionsQuery>, 'limit' | 'cursor'>): SessionOrigin => ({
  ...equal,
  ...(rule_id === undefined ? {} : { flagged_rule_id: rule_id }),
  ...(playground === undefined ? {} : { playground: playground || null }),
})

/**
 * A page of the sessions with these columns, newest first. The first page starts with those whose first requests are in flight. If they
 * fill it, it holds one stored session more, since no cursor could point at them.
 */
export const foundSessions = async (
  { storage }: Gateway,
  live: LiveSessions,
  where: SessionOrigin,
  limit: number,
  cursor: string | undefined,
): Promise<Found<SessionRow>> => {
  if (cursor !== undefined) return storage.find('sessions', { where, limit, cursor })
  const page = await storage.find('sessions', { where, limit })
  const stored = new Set(page.rows.map(({ id }) => id))
  const begun = live.begun(where).filter(({ id }) => !stored.has(id))
  if (begun.length === 0) return page
  const firstRows = begun.slice(0, limit)
  const rest = await storage.find('sessions', { where, limit: Math.max(limit - firstRows.length, 1) })
  return { ...rest, rows: [...firstRows, ...rest.rows] }
}

const MOST_LATELY = 1_000

/** Sessions with a request in progress or one since `from`, milliseconds since 1970, newest first, without those of the Playground; `more`: there are others, which were not read. */
export const sessionsSince = async (
  gateway: Gateway,
  live: LiveSessions,
  from: number,
): Promise<{ readonly rows: readonly SessionRow[]; readonly more: boolean }> => {
  const { rows, next_cursor, truncated } = await gateway.storage.find('sessions', {
    where: { last_seen_at: { gte: from }, playground: null },
    limit: MOST_LATELY,
  })
  const byId = new Map(rows.map((row) => [row.id, row]))
  // sessions in memory are newer than their rows, and may have none yet
  const isAlone = gateway.service('cluster').get() === undefined
  for (const { row } of live.lately(from))
    if (row.playground !== true && (isAlone || !byId.has(row.id))) byId.set(row.id, row)
  return {
    rows: [...byId.values()].sort((one, other) => other.last_seen_at - one.last_seen_at),
    // a truncated scan hardly leaves out a session that is not in memory
    more: next_cursor !== null && !truncated,
  }
}

/** The live session of an id, or of an external id if only one session bears it. Throws SESSION_NOT_FOUND or AMBIGUOUS_ID. */
export const liveById = async (gateway: Gateway, live: LiveSessions, id: string): Promise<Session> => {
  const session = await live.find(id)
  return session === undefined ? liveByExternal(gateway, live, { external_id: id }) : fresh(gateway, session)
}

/** The session as it stands now, also where other processes change it. */
const fresh = async (gateway: Gateway, session: Session): Promise<Session> => {
  await gateway.service('claims').get()?.refresh(session)
  return session
}

/** The live session that an external id means, also while nothing of it is on record or can be written. Throws SESSION_NOT_FOUND or AMBIGUOUS_ID. */
export const liveByExternal = async (
  gateway: Gateway,
  live: LiveSessions,
  where: { readonly external_id: string; readonly project_id?: string },
): Promise<Session> => {
  const { external_id } = where
  const { rows } = await gateway.storage.find('sessions', { where, limit: 10 })
  const known = live
    .known({ ...where, external_id: storedId(external_id, gateway.redact) ?? external_id })
    .flatMap(({ row }) => (rows.some(({ id }) => id === row.id) ? [] : [row]))
  const session = await live.find(onlySession(external_id, [...rows, ...known]).id)
  if (session === undefined) throw new GuardError('SESSION_NOT_FOUND')
  return fresh(gateway, session)
}

/** Sessions that are paused and not ended, newest first, without those of the Playground. `more`: there are others. */
export const waitingSessions = async (
  { storage }: Gateway,
  limit: number,
): Promise<{ readonly rows: readonly SessionRow[]; readonly more: boolean }> => {
  const where = { paused_at: { gte: 0 }, ended_at: null, playground: null }
  const { rows, next_cursor, truncated } = await storage.find('sessions', { where, limit })
  return { rows, more: next_cursor !== null || truncated }
}
