import type { SessionRow } from 'guard-gateway/core'

/** The columns of a session that every request changes. */
export const sessionTotals = (row: SessionRow): Partial<SessionRow> => ({
  requests: row.requests,
  flagged: row.flagged,
  blocked: row.blocked,
  errors: row.errors,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  total_tokens: row.total_tokens,
  cache_read_tokens: row.cache_read_tokens,
  cost_micro: row.cost_micro,
  last_seen_at: row.last_seen_at,
})
