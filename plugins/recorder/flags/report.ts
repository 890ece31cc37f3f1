import type { Gateway, SessionRow } from 'guard-gateway/core'
import type { Static } from 'typebox'
import { jsonObjectOf } from '#lib/json'
import type { FlagGroupTotal } from '#lib/trace'
import { readFlagReport } from './read-report.ts'
import type { reportAnswer } from './schemas.ts'

/** A report as the API gives it. */
export type Report = Static<typeof reportAnswer>

interface ReportQuery {
  readonly since: number
  readonly until: number
  readonly project_id?: string | undefined
  readonly limit: number
}

/** The report of a time, with the sessions behind it. */
export const reportOf = async (gateway: Gateway, { limit, ...asked }: ReportQuery): Promise<Report> => {
  const report = await readFlagReport(gateway.storage, asked)
  const { since, until, groups, ...rest } = report
  const listed = groups.slice(0, limit)
  const rows = await sessionsOf(gateway, listed)
  const { currency } = jsonObjectOf(gateway.health.get('pricing')?.())
  return {
    since: new Date(since).toISOString(),
    until: new Date(Math.min(until, Math.max(since, gateway.clock.now()))).toISOString(),
    project_id: asked.project_id ?? null,
    currency: typeof currency === 'string' ? currency : null,
    ...rest,
    rules: [...rest.rules],
    projects: [...rest.projects],
    sessions: listed.map((group) => sessionEntry(group, rows.get(group.session_id))),
    more: groups.length - listed.length,
  }
}

/** Rows of the sessions of groups, by id; those that are not on record any more are left out. */
export const sessionsOf = async (
  { storage }: Gateway,
  groups: readonly FlagGroupTotal[],
): Promise<ReadonlyMap<string, SessionRow>> => {
  const ids = [...new Set(groups.map(({ session_id }) => session_id))]
  const rows = await Promise.all(ids.map((id) => storage.get('sessions', id)))
  return new Map(rows.filter((row) => row !== undefined).map((row) => [row.id, row]))
}

const sessionEntry = (
  { last_hour_at: _at, ...group }: FlagGroupTotal,
  row: SessionRow | undefined,
): Report['sessions'][number] => ({
  ...group,
  name: row?.name ?? null,
  external_id: row?.external_id ?? null,
  agent_id: row?.agent_id ?? null,
  cost_micro: row?.cost_micro ?? null,
})
