import { type Per, type Period, type Table, table } from 'guard-gateway/core'

/** What a project, or an agent of one, has used in a section of the calendar: kept where several processes count. */
export interface BudgetWindowRow {
  readonly project_id: string
  readonly per: Per
  /** When the section begins, milliseconds since 1970. */
  readonly start: string
  readonly scope: Period['scope']
  /** Empty for a project, and for requests without an agent. */
  readonly agent_id: string
  /** Every change counts. */
  readonly version: number | null
  /** It holds what was recorded before it was made. */
  readonly complete: boolean | null
  readonly requests: number | null
  readonly failed: number | null
  readonly unpriced: number | null
  readonly tokens: number | null
  readonly cache_read_tokens: number | null
  readonly cost_micro: number | null
  readonly reserved: number | null
}

declare module 'guard-gateway/core' {
  interface Tables {
    budget_windows: BudgetWindowRow
  }
}

export const windowKey = ['project_id', 'per', 'start', 'scope', 'agent_id'] as const

export const budgetWindowTable: Table = table<'budget_windows'>({
  id: 'budget_windows',
  key: windowKey,
  columns: {
    project_id: 'text',
    per: 'text',
    start: 'text',
    scope: 'text',
    agent_id: 'text',
    version: 'integer',
    complete: 'boolean',
    requests: 'integer',
    failed: 'integer',
    unpriced: 'integer',
    tokens: 'integer',
    cache_read_tokens: 'integer',
    cost_micro: 'integer',
    reserved: 'integer',
  },
  exact: windowKey,
})
