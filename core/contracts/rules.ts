import type { Session } from '../session.ts'

/** A rule of a policy, as stored and as evaluated. */
export interface Rule<Params = Readonly<Record<string, unknown>>> {
  readonly id: string
  readonly rule_type: string
  readonly threshold: number
  readonly window_size: number
  readonly action: string
  readonly enabled: boolean
  readonly params?: Params
  readonly note?: string
}

/** A stretch of the calendar after which a budget begins anew. */
export type Per = 'minute' | 'hour' | 'day' | 'week' | 'month'

/** What a budget beyond one session is of: all that an agent, or a project, uses in a stretch of the calendar. */
export interface Period {
  readonly scope: 'agent' | 'project'
  readonly per: Per
}

/** A period at a time. */
export interface PeriodNow extends Period {
  /** When the next one begins, milliseconds since 1970. */
  readonly resets_at: number
  /** The same in words: `the next hour begins at 15:00 Europe/Berlin`. */
  readonly next: string
  /** The request has an agent; those without one are counted together. */
  readonly named: boolean
}

/** What is left of one budget. Costs are in millionths of the billing currency. */
export interface BudgetLeft {
  readonly rule_id: string
  readonly rule_type: string
  /** Of the rule. */
  readonly action: string
  readonly project_id: string
  readonly scope: 'session' | 'thread' | 'agent' | 'project'
  /** Null: it is one from beginning to end. */
  readonly per: Per | null
  /** Whose budget it is: null for one of a project, and for the one that all requests without an agent share. */
  readonly agent_id: string | null
  /** Null for one beyond a session. */
  readonly session_id: string | null
  /** What is counted: `requests`, `tokens`, `cost_micro`, or as the rule's detector says. */
  readonly unit: string
  /** Of a cost, where it is known. */
  readonly currency: string | null
  readonly limit: number
  readonly used: number
  readonly left: number
  /** When it begins anew, RFC 3339 in UTC; null: never. */
  readonly resets_at: string | null
  /** Where the calendar of `per` is told. */
  readonly time_zone: string | null
}

/** Who judges requests. */
export interface Rules {
  /** The rules in force for a project. */
  of(project_id: string): Promise<readonly Rule[]>
  /** What is left of each budget in force: of a session, with those of its agent and its project, or of a project and its agents. */
  budgets(of: { readonly session: Session } | { readonly project_id: string }): Promise<readonly BudgetLeft[]>
}
