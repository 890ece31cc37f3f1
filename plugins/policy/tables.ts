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

declare module 'guard-gateway/core' {
  interface Tables {
    policies: PolicyRow
    policy_versions: PolicyVersionRow
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

/** Everything this feature stores. */
export const tables: readonly Table[] = [policies, versions]
