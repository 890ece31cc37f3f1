import type { Change, Gateway } from 'guard-gateway/core'
import { newId } from '#lib/ids'
import { requestsIn } from '#lib/session'
import type { CallRecord } from '#lib/trace'
import { hasFailed, isUnpriced } from '../history/settle.ts'
import { addUsage, noUsage, type Usage } from '../history/usage.ts'
import type { UsageRollup } from '../tables.ts'
import type { RecordingGate } from './recording-gate.ts'

/** Hours, and with them all longer periods, start at a quarter in every time zone. */
const QUARTER_MS = 900_000
/** What is older is in no period any more. */
const RETENTION_MS = 33 * 86_400_000
const PAGE = 100
const PRUNED = 1_000

/** Removes the requests of these traces that may be in a period, and keeps what they have used, a page in one write: so none is counted twice or lost. */
export const rollUp = async (
  { storage, clock }: Gateway,
  gate: RecordingGate,
  trace_ids: readonly string[],
): Promise<void> => {
  const since = clock.now() - RETENTION_MS
  for (const trace_id of trace_ids) {
    for (let left = PAGE; left === PAGE; ) {
      const where = { trace_id, received_at: { gte: since } }
      left = await gate.change(async () => {
        const { rows } = await storage.find('calls', { where, limit: PAGE })
        if (rows.length > 0) await storage.write([...rows.map(removal), ...mergedRollup(rows).map(upsert)])
        return rows.length
      })
    }
  }
  await storage.remove('usage_rollups', { at: { lt: since - QUARTER_MS } }, PRUNED)
}

const removal = ({ id }: CallRecord): Change => ({ table: 'calls', key: id, remove: true })
const upsert = (put: UsageRollup): Change => ({ table: 'usage_rollups', put })

const mergedRollup = (calls: readonly CallRecord[]): readonly UsageRollup[] => {
  const sums = new Map<string, { readonly call: CallRecord; readonly at: number; readonly used: Usage }>()
  for (const call of calls) {
    if (call.decision === 'block') continue
    const at = Math.floor(call.received_at / QUARTER_MS) * QUARTER_MS
    const name = JSON.stringify([at, call.project_id, call.agent_id])
    const sum = sums.get(name) ?? { call, at, used: noUsage() }
    sums.set(name, sum)
    addUsage(sum.used, usageOf(call))
  }
  return [...sums.values()].map(({ call: { project_id, agent_id }, at, used: { reserved: _held, ...used } }) => ({
    id: newId('usage_', at),
    project_id,
    agent_id,
    at,
    ...used,
  }))
}

const usageOf = (call: CallRecord): Partial<Usage> => ({
  requests: requestsIn(call),
  failed: hasFailed(call) ? 1 : 0,
  unpriced: isUnpriced(call.total_tokens, call.cost_source) ? 1 : 0,
  tokens: call.total_tokens,
  cache_read_tokens: call.cache_read_tokens,
  cost_micro: call.cost_micro ?? 0,
})
