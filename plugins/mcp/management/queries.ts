import { GuardError, type Query, type Where } from 'guard-gateway/core'
import type { Static } from 'typebox'
import { parseDatedCursor } from '#lib/paging'
import { instantOf } from '#lib/time'
import type { ApprovalRow } from '../approvals/index.ts'
import type { AuditRow } from '../audit/tables.ts'
import type { approvalsQuery } from './approval-schemas.ts'
import type { eventsQuery } from './event-schemas.ts'

/** The time that an age or a date stands for, in milliseconds since 1970. Throws INVALID_FILTER. */
const sinceOf = (text: string, now: number): number => {
  const at = instantOf(text, now)
  if (at === undefined)
    throw new GuardError(
      'INVALID_FILTER',
      `"since" must be an age like 24h, today, yesterday, or a time like 2026-01-31T12:00:00Z.`,
      {
        path: '/since',
      },
    )
  return at
}

/** What may be asked for of the audit. */
export type EventFilters = Omit<Static<typeof eventsQuery>, 'limit' | 'cursor'>

/** The rows that filters mean; `now` is milliseconds since 1970. Throws INVALID_FILTER. */
export const eventWhere = ({ since, ...equal }: EventFilters, now: number): Where<AuditRow> => ({
  ...equal,
  ...(since === undefined ? {} : { at: { gte: sinceOf(since, now) } }),
})

/** A page of the audit, newest first. */
export const eventQuery = ({ limit, cursor, ...filters }: Static<typeof eventsQuery>, now: number): Query<AuditRow> => {
  const from = parseDatedCursor(cursor, now)
  return {
    where: eventWhere(filters, from.now),
    order: ['at', 'desc'],
    limit,
    ...(from.cursor === undefined ? {} : { cursor: from.cursor }),
  }
}

/** A page of approvals, newest first; those of one status by when they expire. */
export const approvalQuery = ({ limit, cursor, ...where }: Static<typeof approvalsQuery>): Query<ApprovalRow> => ({
  where,
  order: where.status === undefined ? ['recorded', 'desc'] : ['expires_at', 'desc'],
  limit,
  ...(cursor === undefined ? {} : { cursor }),
})
