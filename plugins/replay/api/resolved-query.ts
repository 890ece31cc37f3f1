import { GuardError, type Query, type Reader } from 'guard-gateway/core'
import { namedSession } from 'guard-gateway/lib/session'
import type { RunRow } from '../tables.ts'
import { type RawQuery, runQuery, statuses } from './filters.ts'

/** Limit of sessions with one name in several projects. */
const MAX_SESSIONS = 10
/** Limit of statuses in an error. */
const MAX_STATUSES = 20

/** Storage query of a list; a session filter includes every label that its runs may have. `now` is milliseconds since 1970. Throws UNKNOWN_FILTER and INVALID_FILTER. */
export const resolvedQuery = async (storage: Reader, query: RawQuery, now: number): Promise<Query<RunRow>> => {
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
