import type { Addends, Change, Session, SessionRow, Settled, Tables } from 'guard-gateway/core'
import { isCounting, requestsIn } from 'guard-gateway/lib/session'
import { hasFailed, isUnpriced } from '../history/settle.ts'
import type { Usage } from '../history/usage.ts'

/** The changes of a session by the end of a call. What other processes add to stays: only sums are added. `isClaimed`: its decision counted it. */
export const settleChanges = (settled: Settled, session: Session, isClaimed: boolean): readonly Change[] => {
  const { call, decision } = settled
  const { row } = session
  const closed: Change = { table: 'open_calls', key: call.id, remove: true }
  // nothing of it was on record while the storage failed
  if (session.stored !== true) return [{ table: 'sessions', put: { ...row, version: 1 }, when: 'absent' }, closed]
  const seen: Partial<SessionRow> = { last_seen_at: row.last_seen_at }
  return [
    // fails if the session was removed, which an addition would not
    { table: 'sessions', key: row.id, patch: isFlaggedByReply(settled) ? { ...seen, ...flagOf(row) } : seen },
    { table: 'sessions', key: row.id, add: { ...sumsOf(settled, row), ...(isClaimed ? {} : countOf(settled)) } },
    ...(decision.decision === 'block' ? [] : [closed]),
  ]
}

/** What a call has used, as budgets count it. */
export const usageOf = ({ usage, cost, outcome }: Settled): Partial<Usage> =>
  outcome === 'blocked'
    ? {}
    : {
        failed: hasFailed({ outcome }) ? 1 : 0,
        unpriced: isUnpriced(usage.total_tokens, cost?.cost_source) ? 1 : 0,
        tokens: usage.total_tokens,
        cache_read_tokens: usage.cache_read_tokens,
        cost_micro: cost?.cost_micro ?? 0,
      }

/** The same of a record. */
export const usedBy = ({ outcome, total_tokens, cost_micro, cost_source }: Tables['calls']): Partial<Usage> => ({
  failed: hasFailed({ outcome }) ? 1 : 0,
  unpriced: isUnpriced(total_tokens, cost_source ?? undefined) ? 1 : 0,
  tokens: total_tokens,
  cost_micro: cost_micro ?? 0,
})

const isFlaggedByReply = ({ decision }: Settled): boolean =>
  decision.decision === 'shadow_flag' && decision.row?.decision === 'allow'

const flagOf = (row: SessionRow): Partial<SessionRow> => ({
  flagged_at: row.flagged_at,
  flagged_rule_id: row.flagged_rule_id,
  flagged_reason: row.flagged_reason,
  flagged_action: row.flagged_action,
})

const sumsOf = (settled: Settled, row: SessionRow): Addends<SessionRow> => {
  const { call, decision, usage, outcome, cost } = settled
  if (decision.decision === 'block') return { version: 1 }
  const cost_micro = cost?.cost_micro ?? 0
  const since = isCounting(row, call.at)
    ? {
        requests_since_flag: requestsIn(call),
        tokens_since_flag: usage.total_tokens,
        cost_since_flag_micro: cost_micro,
      }
    : {}
  return {
    version: 1,
    flagged: isFlaggedByReply(settled) ? 1 : 0,
    errors: hasFailed({ outcome }) ? 1 : 0,
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    cache_read_tokens: usage.cache_read_tokens,
    cost_micro,
    ...since,
  }
}

const countOf = ({ call, decision }: Settled): Addends<SessionRow> =>
  decision.repeats !== null ? {} : decision.decision === 'block' ? { blocked: 1 } : { requests: requestsIn(call) }
