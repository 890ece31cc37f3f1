import { type Table, table } from 'guard-gateway/core'

/** An object that a provider keeps, and whose it is. */
export interface ProviderObjectRow {
  /** SHA-256 of kind and id, hex: providers choose ids, and some are addresses. */
  readonly id: string
  readonly kind: string
  readonly project_id: string
  /** Name of the upstream that has it. */
  readonly upstream: string
  /** The session whose reply named it first; null: no session's did. */
  readonly session_id: string | null
  /** Milliseconds since 1970. */
  readonly created_at: number
}

declare module 'guard-gateway/core' {
  interface Tables {
    provider_objects: ProviderObjectRow
  }
}

export const objectTable: Table = table<'provider_objects'>({
  id: 'provider_objects',
  columns: {
    id: 'text',
    kind: 'text',
    project_id: 'text',
    upstream: 'text',
    session_id: 'text',
    created_at: 'integer',
  },
  indexes: [['created_at']],
  repeated: ['kind', 'project_id', 'upstream'],
  exact: ['id', 'kind', 'project_id', 'session_id'],
})
