import type { Mode, Per, Rule, Session } from 'guard-gateway/core'

declare module 'guard-gateway/core' {
  interface Services {
    rules: Rules
  }
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
  /** When it starts over, RFC 3339 in UTC; null: never. */
  readonly resets_at: string | null
  /** Where the calendar of `per` is told. */
  readonly time_zone: string | null
}

/** What a call counts for in tokens whose reply nobody saw: what was held for it, or what it sent, estimated from its text. */
export type UnseenUsage = 'reserved' | 'estimated'

/** Who judges requests. */
export interface Rules {
  /** Mode and rules in force for a project. */
  of(project_id: string): Promise<{ readonly mode: Mode; readonly rules: readonly Rule[] }>
  /** Set where a rule in force for a project is a budget: its calls are put on record before they go up. The policy of the project must have been read, as it is for every request. */
  unseen(project_id: string): UnseenUsage | undefined
  /** What is left of each budget in force: of a session, with those of its agent and its project, or of a project and its agents. */
  budgets(of: { readonly session: Session } | { readonly project_id: string }): Promise<readonly BudgetLeft[]>
}

/** The rules that are recommended to whoever wants agents to be stopped, and the command that enforces them. */
export const RECOMMENDED = 'enforce-recommended'
export const ENFORCE_RECOMMENDED = `policy apply ${RECOMMENDED} --mode enforce`
