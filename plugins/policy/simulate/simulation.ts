import type { Mode } from 'guard-gateway/core'

/** What is to be tried: rules on the stored sessions of a project. Times are milliseconds since 1970. */
export interface SimulationRange {
  /** Sessions with requests since then; earlier matches are left out. */
  readonly since?: number
  readonly until?: number
  /** These alone. */
  readonly session_ids?: readonly string[]
  /** The most sessions, newest first; 200 if not said. */
  readonly limit?: number
}

/** What rules would have done. Costs are millionths of the billing currency. */
export interface Simulation {
  readonly project_id: string
  readonly mode: Mode
  /** How many sessions and requests passed the rules. */
  readonly sessions: number
  readonly requests: number
  /** There is more that was left out by a limit. */
  readonly truncated: boolean
  /** Sessions in which a rule would have spoken. */
  readonly flagged: readonly FlaggedSession[]
  /** In the order of the policy; rules that are on. */
  readonly rules: readonly RuleTotal[]
  /** Rules that are on and could not be tried on everything. */
  readonly not_simulated: readonly NotSimulated[]
}

/** What came after a request. */
export interface AfterFirstMatch {
  readonly requests_after: number
  readonly tokens_after: number
  readonly cost_after_micro: number
}

export interface FlaggedSession extends AfterFirstMatch {
  readonly session_id: string
  /** `block` only in enforce mode. */
  readonly decision: 'block' | 'shadow_flag'
  readonly first_request_id: string
  readonly at: number
  /** The request's number in its session, from 1. */
  readonly step: number
  readonly code: string
  readonly rule_id: string
  readonly message: string
  /** The counted value; null where the rule has none. */
  readonly count: number | null
  /** False: the repeated calls had differing results; null: not known. */
  readonly results_equal: boolean | null
}

export interface RuleTotal extends AfterFirstMatch {
  readonly rule_id: string
  readonly rule_type: string
  readonly code: string
  /** Sessions in which it would have spoken, and their share of all. */
  readonly sessions: number
  readonly share: number
  /** Of these, those whose repeated calls had differing results. */
  readonly differing_results: number
  /** Sessions with requests that it could not examine; `not_simulated` says why. */
  readonly unseen_sessions: number
}

/** What a rule could not be tried on, and why: in these requests its silence says nothing. */
export interface NotSimulated {
  readonly rule_id: string
  readonly reason:
    | 'no_detector'
    | 'no_reply_text'
    | 'no_measure'
    | 'no_price'
    | 'too_long_ago'
    | 'steers'
    | 'beyond_session'
    | 'no_conversation'
  /** Sessions, and requests in them, that it could not examine. */
  readonly sessions: number
  readonly requests: number
  /** The same in words, with what would help. */
  readonly message: string
}
