import { type Found, type Gateway, GuardError, type Where } from 'guard-gateway/core'
import { datedCursor, parseDatedCursor } from '#lib/paging'
import { instantOf } from '#lib/time'
import type { AuditEntryRow } from './tables.ts'

/** Which records are asked for. */
export interface AuditFilter {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly project_id?: string | undefined
  /** An age or a time. */
  readonly since?: string | undefined
}

/** A page of who did what, newest first. Throws INVALID_FILTER. */
export const foundAudit = async (
  { storage, clock }: Gateway,
  { since, ...equal }: AuditFilter,
  limit: number,
  after: string | undefined,
): Promise<Found<AuditEntryRow>> => {
  const { now, cursor } = parseDatedCursor(after, clock.now())
  const filters = Object.fromEntries(Object.entries(equal).filter(([, value]) => value !== undefined && value !== ''))
  const at = since === undefined || since === '' ? {} : { at: { gte: startOf(since, now) } }
  const where: Where<AuditEntryRow> = { ...filters, ...at }
  const page = await storage.find('audit', {
    where,
    order: ['at', 'desc'],
    limit,
    ...(cursor === undefined ? {} : { cursor }),
  })
  return { ...page, next_cursor: datedCursor(page.next_cursor, after, now) }
}

const startOf = (text: string, now: number): number => {
  const at = instantOf(text, now)
  if (at !== undefined) return at
  throw new GuardError('INVALID_FILTER', `"${text}" is no time. Write it as 7d, today or 2026-03-01.`, {
    path: 'since',
  })
}
