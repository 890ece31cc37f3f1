import type { Storage } from 'guard-gateway/core'
import { requestsIn } from '#lib/session'
import type { Window } from '#lib/time'
import type { CallRecord } from '#lib/trace'
import { hasFailed } from '../history/settle.ts'
import { noUsage, type Usage } from '../history/usage.ts'

/** The usage of an agent of a project, from its stored requests. */
export interface StoredUse {
  readonly project_id: string
  readonly agent_id: string | null
  readonly used: Usage
}

const FORWARDED: readonly CallRecord['decision'][] = ['allow', 'shadow_flag']

/** What the requests on record have used that arrived in a section of the calendar. */
export const storedUses = async (storage: Storage, { start, end }: Window): Promise<readonly StoredUse[]> => {
  const groups = await storage.sum('calls', {
    where: { received_at: { gte: start, lt: end }, decision: { in: FORWARDED } },
    order: ['received_at', 'asc'],
    by: ['project_id', 'agent_id', 'outcome', 'cost_source', 'uncounted'],
    of: ['total_tokens', 'cache_read_tokens', 'cost_micro'],
  })
  return groups.map(({ by, rows, sums }) => ({
    project_id: String(by.project_id),
    agent_id: by.agent_id === null ? null : String(by.agent_id),
    used: {
      ...noUsage(),
      requests: rows * requestsIn({ uncounted: by.uncounted as CallRecord['uncounted'] }),
      failed: hasFailed({ outcome: by.outcome as CallRecord['outcome'] }) ? rows : 0,
      // of requests that ended alike either all used tokens or, where they failed, none
      unpriced: by.cost_source !== 'priced' && sums.total_tokens > 0 ? rows : 0,
      tokens: sums.total_tokens,
      cache_read_tokens: sums.cache_read_tokens,
      cost_micro: sums.cost_micro,
    },
  }))
}

/** The same of requests whose records were removed meanwhile. */
export const removedUses = async (storage: Storage, { start, end }: Window): Promise<readonly StoredUse[]> => {
  const groups = await storage.sum('usage_rollups', {
    where: { at: { gte: start, lt: end } },
    order: ['at', 'asc'],
    by: ['project_id', 'agent_id'],
    of: ['requests', 'failed', 'unpriced', 'tokens', 'cache_read_tokens', 'cost_micro'],
  })
  return groups.map(({ by, sums }) => ({
    project_id: String(by.project_id),
    agent_id: by.agent_id === null ? null : String(by.agent_id),
    used: { ...noUsage(), ...sums },
  }))
}

/** The latest time at which a request on record arrived, milliseconds since 1970; 0 if there is none. */
export const latestOnRecord = async (storage: Storage): Promise<number> => {
  const { rows } = await storage.find('calls', { order: ['received_at', 'desc'], limit: 1 })
  return rows[0]?.received_at ?? 0
}
