import type { Decision, Match, Mode, SessionRow } from 'guard-gateway/core'

/** Columns of a session that its flag sets, and those that its later requests add to. */
export interface FlagColumns {
  /** Arrival of the request from which on the three sums count: the first one that enforcing would have refused, else the first flagged one. Milliseconds since 1970. */
  flagged_at: number | null
  /** Rule, reason and action of its flag. */
  flagged_rule_id: string | null
  flagged_reason: string | null
  flagged_action: string | null
  /** What came since then, the flagged request with it. */
  requests_since_flag: number
  tokens_since_flag: number
  /** Millionths of the billing currency. */
  cost_since_flag_micro: number
}

declare module 'guard-gateway/core' {
  interface SessionRow extends FlagColumns {
    /** Its requests are those of a scenario of the Playground. Null: they are not. */
    playground: true | null
    /** Changes of the row, counted where several processes share the storage; null where none do. */
    version: number | null
  }
}

/** The columns of a session that its flag sets, and those that its later requests add to. */
export const flagColumns = (row: SessionRow): FlagColumns => ({
  flagged_at: row.flagged_at,
  flagged_rule_id: row.flagged_rule_id,
  flagged_reason: row.flagged_reason,
  flagged_action: row.flagged_action,
  requests_since_flag: row.requests_since_flag,
  tokens_since_flag: row.tokens_since_flag,
  cost_since_flag_micro: row.cost_since_flag_micro,
})

/** What a flag says of its request. */
export interface Flag {
  readonly rule_id: string | null
  readonly reason: string | null
  /** The action of its rule; null where no rule of the policy flagged. */
  readonly action: string | null
}

/** Whether enforcing would have refused a request for this action. */
export const isRefusing = (action: string | null): boolean => action === 'block' || action === 'pause'

/** A match in a reply comes too late to refuse its request, and a probe is let through. */
const refuses = ({ action, probe, evidence }: Match): boolean =>
  isRefusing(action) && probe !== true && evidence !== 'stream'

/** The flag of a decision: of the match that enforcing would have refused the request for, else of the first one. Undefined: it is allowed. */
export const flagOf = ({ decision, reason, rule_id, matches }: FlaggedDecision, mode: Mode): Flag | undefined => {
  if (decision === 'allow') return undefined
  const refusing = decision === 'shadow_flag' && mode === 'shadow' ? matches?.find(refuses) : undefined
  if (refusing !== undefined) return { rule_id: refusing.rule_id, reason: refusing.code, action: refusing.action }
  const match = matches?.find((one) => one.rule_id === rule_id)
  // what enforce mode lets pass it would not have refused
  const action = match === undefined ? null : decision === 'block' || !isRefusing(match.action) ? match.action : 'flag'
  return { rule_id, reason, action }
}

type FlaggedDecision = Pick<Decision, 'decision' | 'reason' | 'rule_id'> & {
  readonly matches: readonly Match[] | null
}

/**
 * Notes the flag of a request that arrived `at`, unless one is noted that counts at least as much. A flag that enforcing would have
 * refused takes the place of one that it would not, and any takes the place of one before the session was resumed.
 */
export const noteFlag = (row: SessionRow, flag: Flag, at: number): void => {
  const resumed_at = row.resumed_at ?? -1
  const isOpen = row.flagged_at !== null && resumed_at < row.flagged_at
  if (at <= resumed_at || (isOpen && (isRefusing(row.flagged_action) || !isRefusing(flag.action)))) return
  row.flagged_at = at
  row.flagged_rule_id = flag.rule_id
  row.flagged_reason = flag.reason
  row.flagged_action = flag.action
  row.requests_since_flag = 0
  row.tokens_since_flag = 0
  row.cost_since_flag_micro = 0
}

/** A request that arrived `at` is the flagged one or came after it, and nobody has let the session go on since. */
export const isCounting = ({ flagged_at, resumed_at }: SessionRow, at: number): boolean =>
  flagged_at !== null && at >= flagged_at && (resumed_at ?? -1) < flagged_at

/** Adds a settled request to what came since the flag. */
export const addSinceFlag = (row: SessionRow, requests: number, tokens: number, cost_micro: number): void => {
  row.requests_since_flag += requests
  row.tokens_since_flag += tokens
  row.cost_since_flag_micro += cost_micro
}
