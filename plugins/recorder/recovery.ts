import type { Gateway, Reader, SessionRow, Storage } from 'guard-gateway/core'
import { lookBack, pages } from 'guard-gateway/lib/paging'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { failures } from './aggregates.ts'
import { sessionTotals } from './session-totals.ts'

/** A session as stored, and with the totals of newer records. */
interface Summed {
  readonly stored: SessionRow
  readonly row: SessionRow
}

/** Computes the totals that an earlier process deferred and did not write, from the recorded requests. */
export const recoverTotals = async ({ storage }: Gateway): Promise<void> => {
  const sessions = new Map<string, Summed | undefined>()
  const ended = (call: CallRecord): number => call.ended_at
  await lookBack(pages(storage, 'calls', {}), ended, async (calls) => {
    const ids = new Set(calls.flatMap(({ session_id }) => session_id ?? []))
    const unknown = [...ids].filter((id) => !sessions.has(id))
    await Promise.all(unknown.map(async (id) => sessions.set(id, await summed(storage, id))))
    return calls.filter((call) => addCall(sessions.get(call.session_id ?? ''), call))
  })
  for (const session of sessions.values()) if (session !== undefined) await write(storage, session)
}

/** Writes the totals unless another process has written them meanwhile. */
const write = async (storage: Storage, { stored, row }: Summed): Promise<void> => {
  const { id, last_seen_at } = stored
  if (row.last_seen_at > last_seen_at) await storage.patch('sessions', id, sessionTotals(row), { last_seen_at })
}

const summed = async (storage: Reader, id: string): Promise<Summed | undefined> => {
  const stored = await storage.get('sessions', id)
  return stored && { stored, row: { ...stored } }
}

/** Adds a request that ended after those that the stored totals cover; false for one that they cover. */
const addCall = (session: Summed | undefined, call: CallRecord): boolean => {
  if (session === undefined || call.ended_at <= session.stored.last_seen_at) return false
  const { row } = session
  if (call.decision === 'block') row.blocked++
  else row.requests++
  if (call.decision === 'shadow_flag') row.flagged++
  if (failures.has(call.outcome)) row.errors++
  row.input_tokens += call.input_tokens
  row.output_tokens += call.output_tokens
  row.total_tokens += call.total_tokens
  if (row.cache_read_tokens !== null) row.cache_read_tokens += call.cache_read_tokens
  row.cost_micro += call.cost_micro ?? 0
  row.last_seen_at = Math.max(row.last_seen_at, call.ended_at)
  return true
}
