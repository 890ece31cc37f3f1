import type { Gateway, Reader, SessionRow, Storage } from 'guard-gateway/core'
import { findUnsummed, pages } from '#lib/paging'
import { requestsIn } from '#lib/session'
import type { CallRecord } from '#lib/trace'
import { failures } from './figures/measures.ts'
import { sessionTotals } from './write-behind-totals.ts'

/** Stored totals of a session, and its totals with newer records. */
interface SessionTotals {
  readonly stored: SessionRow
  readonly row: SessionRow
}

/** Recomputes the totals that a previous process deferred, from stored requests. */
export const recoverTotals = async ({ storage }: Gateway): Promise<void> => {
  const sessions = new Map<string, SessionTotals | undefined>()
  await findUnsummed(pages(storage, 'calls', {}), summedAt, async (calls) => {
    const ids = new Set(calls.flatMap(({ session_id }) => session_id ?? []))
    const unknown = [...ids].filter((id) => !sessions.has(id))
    await Promise.all(unknown.map(async (id) => sessions.set(id, await loadSession(storage, id))))
    return calls.filter((call) => addCall(sessions.get(call.session_id ?? ''), call))
  })
  for (const session of sessions.values()) if (session !== undefined) await write(storage, session)
}

/** Its process left it open: what it used was added to its session when it was put on record. */
const isLeftOpen = ({ outcome, forwarded_at }: CallRecord): boolean =>
  outcome === 'interrupted' && forwarded_at === null

/** When a call counts in its session: from its end, or from its decision where it was left open. */
const summedAt = (call: CallRecord): number => (isLeftOpen(call) ? call.received_at : call.ended_at)

/** Writes the totals unless another process has written newer ones. */
const write = async (storage: Storage, { stored, row }: SessionTotals): Promise<void> => {
  const { id, last_seen_at } = stored
  if (row.last_seen_at > last_seen_at) await storage.patch('sessions', id, sessionTotals(row), { last_seen_at })
}

const loadSession = async (storage: Reader, id: string): Promise<SessionTotals | undefined> => {
  const stored = await storage.get('sessions', id)
  return stored && { stored, row: { ...stored } }
}

/** Adds a request that ended after the stored totals; false for an earlier one. */
const addCall = (session: SessionTotals | undefined, call: CallRecord): boolean => {
  if (session === undefined || summedAt(call) <= session.stored.last_seen_at) return false
  const { row } = session
  if (call.decision === 'block') row.blocked++
  else row.requests += requestsIn(call)
  if (call.decision === 'shadow_flag') row.flagged++
  row.last_seen_at = Math.max(row.last_seen_at, summedAt(call))
  if (isLeftOpen(call)) return true
  if (failures.has(call.outcome)) row.errors++
  row.input_tokens += call.input_tokens
  row.output_tokens += call.output_tokens
  row.total_tokens += call.total_tokens
  if (row.cache_read_tokens !== null) row.cache_read_tokens += call.cache_read_tokens
  row.cost_micro += call.cost_micro ?? 0
  return true
}
