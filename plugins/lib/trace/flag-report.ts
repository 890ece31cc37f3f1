declare module 'guard-gateway/core' {
  interface Services {
    flags: Flags
  }
}

/** Which requests are asked for, to the hour; times are milliseconds since 1970, `until` is not included. */
export interface FlagReportQuery {
  readonly since: number
  readonly until: number
  readonly project_id?: string | undefined
  /** The most groups to list; all if absent. Sums are of all. */
  readonly limit?: number | undefined
}

/** What came since the flags of sessions, the flagged requests with them. Cost in millionths of the billing currency. */
export interface SinceFlag {
  readonly requests_since_flag: number
  readonly tokens_since_flag: number
  readonly cost_since_flag_micro: number
}

/** What enforcing would have saved at most: an agent that is refused may go on in another way. */
export interface Savings extends SinceFlag {
  readonly sessions: number
}

/** Requests of one session that one rule flagged or blocked, and what came since, where it is the flag that counts of the session. */
export interface FlagGroupTotal extends SinceFlag {
  readonly session_id: string
  readonly project_id: string
  readonly rule_id: string | null
  readonly reason: string | null
  readonly action: string | null
  /** Enforcing would have refused the flagged request. */
  readonly would_refuse: boolean
  readonly flagged: number
  readonly blocked: number
  readonly blocked_retries: number
  /** When the last hour begins that it counts in. */
  readonly last_hour_at: number
}

/** The same of all sessions. */
export interface RuleReport extends Omit<FlagGroupTotal, 'session_id' | 'project_id' | 'last_hour_at'> {
  readonly sessions: number
}

/** What flags and blocks of a time came to, without those of the Playground. */
export interface FlagReport {
  /** When the first hour begins, and the last one ends. */
  readonly since: number
  readonly until: number
  readonly saved: Savings
  readonly flagged: number
  readonly blocked: number
  readonly blocked_retries: number
  /** Those that cost most first. */
  readonly rules: readonly RuleReport[]
  readonly projects: readonly (Savings & { readonly project_id: string })[]
  readonly groups: readonly FlagGroupTotal[]
}

/** What flags of sessions came to. */
export interface Flags {
  report(query: FlagReportQuery): Promise<FlagReport>
}
