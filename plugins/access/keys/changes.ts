import type { Gateway } from 'guard-gateway/core'
import type { AccessKeys, KeyRequest, MadeKey } from './access-keys.ts'
import type { AccessKeyRow } from './tables.ts'

/** Makes a key, with the record of who did. */
export const createKey = (gateway: Gateway, keys: AccessKeys, request: KeyRequest): Promise<MadeKey> =>
  keys.create(request, (row) => [
    gateway
      .service('audit')
      .need()
      .change({
        action: 'key.created',
        subject: row.id,
        project_id: onlyOf(row.projects),
        details: { name: row.name, scopes: row.scopes, projects: row.projects, expires_at: row.expires_at },
      }),
  ])

/** Revokes a key, with the record of who did. */
export const revokeKey = (gateway: Gateway, keys: AccessKeys, row: AccessKeyRow): Promise<void> =>
  keys.revoke(row, [
    gateway
      .service('audit')
      .need()
      .change({
        action: 'key.revoked',
        subject: row.id,
        project_id: onlyOf(row.projects),
        details: { name: row.name },
      }),
  ])

const onlyOf = (projects: readonly string[] | null): string | null =>
  projects?.length === 1 ? (projects[0] ?? null) : null
