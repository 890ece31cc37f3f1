import type { McpServer } from '#lib/mcp-transport'
import type { McpLoginRow } from './tables.ts'

/** A login as people see it. Times are milliseconds since 1970. */
export interface LoginState {
  readonly server_id: string
  /** Null: it serves all who use the server. */
  readonly agent_id: string | null
  /** `needed`: nobody has logged in; `ended`: somebody must again; `wants_more`: it works, and the server has asked for more. */
  readonly state: 'ok' | 'needed' | 'ended' | 'wants_more'
  readonly reason: string | null
  readonly issuer: string | null
  readonly scopes: readonly string[]
  readonly wanted: readonly string[]
  readonly expires_at: number | null
  readonly renewable: boolean
}

const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '')

/** What a login that is kept is good for now. */
export const stateOf = (row: McpLoginRow, now: number): LoginState => {
  const isOver = row.state === 'ended' || (row.renewable === 0 && now >= (row.expires_at ?? Number.POSITIVE_INFINITY))
  const missing = words(row.wanted).filter((scope) => !words(row.scopes).includes(scope))
  return {
    server_id: row.server_id,
    agent_id: row.agent_id === '' ? null : row.agent_id,
    state: isOver ? 'ended' : missing.length > 0 ? 'wants_more' : 'ok',
    reason: isOver ? (row.reason ?? 'its token is good no more, and nothing renews it.') : null,
    issuer: row.issuer,
    scopes: words(row.scopes),
    wanted: missing,
    expires_at: row.expires_at,
    renewable: row.renewable === 1,
  }
}

/** Nobody has logged in. */
export const neededAt = (server_id: string, agent_id: string): LoginState => ({
  server_id,
  agent_id: agent_id === '' ? null : agent_id,
  state: 'needed',
  ...{ reason: null, issuer: null, scopes: [], wanted: [], expires_at: null, renewable: false },
})

/** Those of a server: where one serves all, exactly one. */
export const statesOf = (
  { id, login }: McpServer,
  rows: readonly McpLoginRow[],
  now: number,
): readonly LoginState[] => {
  const per = login?.per ?? 'server'
  const own = rows.filter((row) => row.server_id === id && (row.agent_id === '') === (per === 'server'))
  const states = own.map((row) => stateOf(row, now))
  return states.length === 0 && per === 'server' ? [neededAt(id, '')] : states
}
