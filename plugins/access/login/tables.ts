import { type Table, table } from 'guard-gateway/core'

/** A login of a browser: one value that its cookie has had. Times are milliseconds since 1970. */
export interface LoginRow {
  /** SHA-256 of the value in the cookie, hex. */
  readonly id: string
  readonly key_id: string
  /** When the key was given; a login ends some time after it, whatever happens. */
  readonly created_at: number
  /** When this value was made. */
  readonly issued_at: number
  /** To the minute. */
  readonly last_used_at: number
  readonly expires_at: number
}

declare module 'guard-gateway/core' {
  interface Tables {
    logins: LoginRow
  }
}

export const loginTable: Table = table<'logins'>({
  id: 'logins',
  columns: {
    id: 'text',
    key_id: 'text',
    created_at: 'integer',
    issued_at: 'integer',
    last_used_at: 'integer',
    expires_at: 'integer',
  },
  indexes: [['expires_at'], ['key_id', 'recorded']],
  exact: ['id', 'key_id'],
})
