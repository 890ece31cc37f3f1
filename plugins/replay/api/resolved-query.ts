import { GuardError, type Query, type Reader } from 'guard-gateway/core'
import { namedSession } from 'guard-gateway/lib/session'
import type { RunRow } from '../tables.ts'
import { type RawQuery, runQuery, statuses } from './filters.ts'

/** Sessions of several projects that one name may mean. */
const MAX_SESSIONS = 10
/** How many statuses of programs a refusal names. */
const MAX_STATUSES = 20

/** The storage query that a list asks for, a session under each label that its runs bear; `now` is milliseconds since 1970. Throws UNKNOWN_FILTER and INVALID_FILTER. */
export const resolvedQuery = async (storage: Reader, query: RawQuery, now: number): Promise<Query<RunRow>> => {
  const asked = runQuery(query, now)
  await checkStatuses(storage, asked)
  const { session_id, project_id } = asked.where ?? {}
  if (typeof session_id !== 'string') return asked
  const labels = await labelsOf(storage, session_id, typeof project_id === 'string' ? project_id : undefined)
  const [only = session_id, ...others] = labels
  if (others.length === 0) return runQuery({ ...query, session_id: only }, now)
  const { session_id: _one, ...rest } = query
  const { where, ...more } = runQuery(rest, now)
  return { ...more, where: { ...where, session_id: { in: labels } } }
}

/** What runs there are call a session, which may be asked for by its id or by the name that its client gave it: those that came before it bear the name. */
const labelsOf = async (storage: Reader, asked: string, project_id: string | undefined): Promise<readonly string[]> => {
  const inProject = project_id === undefined ? {} : { project_id }
  const [session, named, { rows }] = await Promise.all([
    storage.get('sessions', asked),
    namedSession(storage, project_id ?? 'default', asked),
    storage.find('sessions', { where: { external_id: asked, ...inProject }, limit: MAX_SESSIONS }),
  ])
  const isTheirs = project_id === undefined || project_id === session?.project_id
  const name = isTheirs ? session?.external_id : undefined
  const labels = [...new Set([asked, named, name ?? asked, ...rows.map(({ id }) => id)])]
  const found = labels.map((label) => storage.find('runs', { where: { session_id: label, ...inProject }, limit: 1 }))
  const known = await Promise.all(found)
  return labels.filter((_, at) => known[at]?.rows.length === 1)
}

/** Refuses statuses that we do not give and that no stored run has either: whoever asks for one has misspelled it. */
const checkStatuses = async (storage: Reader, { where }: Query<RunRow>): Promise<void> => {
  const { status } = where ?? {}
  const asked = typeof status === 'string' ? [status] : status && 'in' in status ? status.in : []
  for (const word of asked) {
    if (statuses.includes(word)) continue
    const { rows } = await storage.find('runs', { where: { status: word }, limit: 1 })
    if (rows.length > 0) continue
    const known = [...new Set([...statuses, ...(await storedStatuses(storage))])]
    throw new GuardError('INVALID_FILTER', `No run has status "${word}"; there is ${known.join(', ')}.`, {
      path: '/status',
      known,
    })
  }
}

/** The first statuses that stored runs have, in order of text. */
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
    // the least text behind it
    next = `${run.status} `
  }
  return found
}
