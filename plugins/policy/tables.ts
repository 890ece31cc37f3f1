import { type Mode, type Rule, type Table, table } from 'guard-gateway/core'

/** A project's policy as stored. Times are milliseconds since 1970. */
export interface PolicyRow {
  readonly project_id: string
  readonly version: number
  readonly mode: Mode | null
  readonly rules: readonly Rule[]
  readonly updated_at: number
}

/** An earlier policy of a project, or the present one; `id` is project, colon, version. */
export interface PolicyVersionRow extends PolicyRow {
  readonly id: string
}

/** What requests have used whose records were removed: those of one agent that arrived in one quarter of an hour. `at` is its beginning in milliseconds since 1970. */
export interface UsageRollup {
  readonly id: string
  readonly project_id: string
  readonly agent_id: string | null
  readonly at: number
  readonly requests: number
  readonly failed: number
  readonly unpriced: number
  readonly tokens: number
  readonly cache_read_tokens: number
  readonly cost_micro: number
}

declare module 'guard-gateway/core' {
  interface Tables {
    policies: PolicyRow
    policy_versions: PolicyVersionRow
    usage_rollups: UsageRollup
  }
}

const columns = { project_id: 'text', version: 'integer', mode: 'text', rules: 'json', updated_at: 'integer' } as const

const policies = table<'policies'>({
  id: 'policies',
  key: ['project_id'],
  columns,
  exact: ['project_id', 'mode'],
})

const versions = table<'policy_versions'>({
  id: 'policy_versions',
  columns: { id: 'text', ...columns },
  exact: ['id', 'project_id', 'mode'],
})

const rollups = table<'usage_rollups'>({
  id: 'usage_rollups',
  columns: {
    id: 'text',
    project_id: 'text',
    agent_id: 'text',
    at: 'integer',
    requests: 'integer',
    failed: 'integer',
    unpriced: 'integer',
    tokens: 'integer',
    cache_read_tokens: 'integer',
    cost_micro: 'integer',
  },
  indexes: [['at']],
  exact: ['id', 'project_id', 'agent_id'],
})

/** Everything this feature stores. */
export const tables: readonly Table[] = [policies, versions, rollups]
