import { type Table, table } from 'guard-gateway/core'
import type { PrincipalKind } from '#lib/principal'

/** Who did what. Times are milliseconds since 1970. */
export interface AuditEntryRow {
  /** `adt_…` */
  readonly id: string
  readonly at: number
  readonly actor: string
  readonly actor_kind: PrincipalKind
  readonly key_id: string | null
  /** `session.paused`, `policy.changed` and the like. */
  readonly action: string
  /** Id of what it was done to. */
  readonly subject: string | null
  readonly project_id: string | null
  readonly details: Readonly<Record<string, unknown>>
  /** The process that did it, where several share the storage. */
  readonly instance: string | null
}

declare module 'guard-gateway/core' {
  interface Tables {
    audit: AuditEntryRow
  }
}

export const auditTable: Table = table<'audit'>({
  id: 'audit',
  columns: {
    id: 'text',
    at: 'integer',
    actor: 'text',
    actor_kind: 'text',
    key_id: 'text',
    action: 'text',
    subject: 'text',
    project_id: 'text',
    details: 'json',
    instance: 'text',
  },
  indexes: [['at'], ['actor', 'recorded'], ['action', 'recorded'], ['project_id', 'recorded']],
  exact: ['id', 'actor_kind', 'key_id', 'action', 'project_id', 'instance'],
})
