import { type Table, table } from 'guard-gateway/core'

/** A login at a server. Times are milliseconds since 1970. */
export interface McpLoginRow {
  readonly server_id: string
  /** Empty: it serves all who use the server. */
  readonly agent_id: string
  /** Tokens and client as a compact JWE; what it holds never leaves this folder. */
  readonly sealed: string
  /** Raised by each change of what is sealed. */
  readonly version: number
  readonly state: 'ok' | 'ended'
  /** Why it ended. */
  readonly reason: string | null
  /** The authorization server. */
  readonly issuer: string
  /** Granted, by blanks. */
  readonly scopes: string
  /** What the server has asked for beyond them, by blanks. */
  readonly wanted: string
  /** Of the access token; null: the authorization server does not say. */
  readonly expires_at: number | null
  /** 1: there is a refresh token. */
  readonly renewable: number
  readonly logged_in_at: number
  readonly issued_at: number
  /** Until then one process renews the tokens and no other does. */
  readonly renewing_until: number
}

declare module 'guard-gateway/core' {
  interface Tables {
    mcp_logins: McpLoginRow
  }
}

export const loginTable: Table = table<'mcp_logins'>({
  id: 'mcp_logins',
  key: ['server_id', 'agent_id'],
  columns: {
    server_id: 'text',
    agent_id: 'text',
    sealed: 'text',
    version: 'integer',
    state: 'text',
    reason: 'text',
    issuer: 'text',
    scopes: 'text',
    wanted: 'text',
    expires_at: 'integer',
    renewable: 'integer',
    logged_in_at: 'integer',
    issued_at: 'integer',
    renewing_until: 'integer',
  },
  indexes: [['server_id']],
  // what is encrypted looks like a token to whatever hides tokens
  exact: ['server_id', 'agent_id', 'sealed', 'state', 'issuer', 'scopes', 'wanted'],
})
