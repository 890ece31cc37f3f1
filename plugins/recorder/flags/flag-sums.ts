import type { Addends, Call, Change, Decision, SessionRow, Settled } from 'guard-gateway/core'
import { addSinceFlag, type Flag, flagOf, isCounting, noteFlag, requestsIn } from '#lib/session'
import { type CallRecord, isPlayground } from '#lib/trace'
import { hourOf } from '../figures/hours.ts'
import { safe } from '../figures/measures.ts'
import type { FlagRow } from './tables.ts'

/** Notes the flag of a request that is forwarded although a rule spoke, before others of its session arrive. */
export const noteDecided = (decision: Decision, call: Call): void => {
  if (decision.decision !== 'shadow_flag' || call.session === null) return
  const flag = flagOf(decision, call.mode)
  if (flag !== undefined) noteFlag(call.session.row, flag, call.at)
}

/** Adds a settled call to what came since the flag of its session. A flag of its reply is noted only now. */
export const noteSettled = ({ call, decision, usage, cost }: Settled): void => {
  const { session } = call
  if (session === null || decision.decision === 'block') return
  noteDecided(decision, call)
  if (isCounting(session.row, call.at))
    addSinceFlag(session.row, requestsIn(call), usage.total_tokens, cost?.cost_micro ?? 0)
}

/** What a call adds to the sums of its session's flags, after `noteSettled`. They belong into the batch that writes the call. Those of the Playground are not summed up. */
export const flagSums = ({ call: { session, at } }: Settled, record: CallRecord): readonly Change[] => {
  if (session === null || isPlayground(record)) return []
  const own = ownFlag(record)
  const first = record.decision !== 'block' && isCounting(session.row, at) ? sinceFlag(session.row, record) : undefined
  if (own === undefined && first === undefined) return NONE
  if (own !== undefined && first !== undefined && isSame(own.flag, first.flag))
    return [added(record, { flag: first.flag, add: { ...own.add, ...first.add } })]
  return [own, first].filter((sum) => sum !== undefined).map((sum) => added(record, sum))
}

/** Nearly all calls. */
const NONE: readonly Change[] = []

/** What is added, and to which flag. */
interface FlagSum {
  readonly flag: Flag
  readonly add: Addends<FlagRow>
}

const ownFlag = (record: CallRecord): FlagSum | undefined => {
  const flag = flagOf(record, record.mode)
  return flag && { flag, add: record.decision === 'block' ? { blocked: 1 } : { flagged: 1 } }
}

const sinceFlag = (row: SessionRow, record: CallRecord): FlagSum => ({
  flag: { rule_id: row.flagged_rule_id, reason: row.flagged_reason, action: row.flagged_action },
  add: {
    requests_since_flag: requestsIn(record),
    tokens_since_flag: safe(record.total_tokens),
    cost_since_flag_micro: safe(record.cost_micro ?? 0),
  },
})

const isSame = (one: Flag, other: Flag): boolean =>
  one.rule_id === other.rule_id && one.reason === other.reason && one.action === other.action

/** What one more repetition of a blocked call adds. */
export const repeatedFlag = (record: CallRecord): readonly Change[] => {
  const flag = flagOf(record, record.mode)
  if (flag === undefined || record.session_id === null || isPlayground(record)) return []
  return [added(record, { flag, add: { blocked_retries: 1 } })]
}

const added = ({ received_at, project_id, session_id }: CallRecord, { flag, add }: FlagSum): Change => ({
  table: 'flags_by_hour',
  key: [hourOf(received_at), project_id, session_id ?? '', flag.rule_id ?? '', flag.reason ?? '', flag.action ?? ''],
  add,
})
