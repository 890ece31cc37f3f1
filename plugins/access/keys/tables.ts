import { type Table, table } from 'guard-gateway/core'
import type { Scope } from '#lib/principal'

/** A key with scopes as stored: its SHA-256 in hex and what is shown of it, never the key. Times are milliseconds since 1970. */
export interface AccessKeyRow {
  /** `akey_…` */
  readonly id: string
  readonly name: string
  readonly hash: string
  /** The first characters. */
  readonly prefix: string
  readonly scopes: readonly Scope[]
  /** The projects it is bound to; null: all. */
  readonly projects: readonly string[] | null
  readonly created_at: number
  /** Name of whoever made it. */
  readonly created_by: string
  /** To the minute. */
  readonly last_used_at: number | null
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

declare module 'guard-gateway/core' {
  interface Tables {
    access_keys: AccessKeyRow
  }
}

export const keyTable: Table = table<'access_keys'>({
  id: 'access_keys',
  columns: {
    id: 'text',
    name: 'text',
    hash: 'text',
    prefix: 'text',
    scopes: 'json',
    projects: 'json',
    created_at: 'integer',
    created_by: 'text',
    last_used_at: 'integer',
    expires_at: 'integer',
    revoked_at: 'integer',
  },
  indexes: [['revoked_at', 'recorded']],
  unique: [['hash']],
  exact: ['id', 'hash', 'prefix', 'scopes', 'projects'],
})
