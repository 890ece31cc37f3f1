import type { SessionRow } from 'guard-gateway/core'
import { flagColumns } from '#lib/session'

/** The columns of a session that its requests change; those of its flag only where it has one. */
export const sessionTotals = (row: SessionRow): Partial<SessionRow> =>
  row.flagged_at === null ? totalsOf(row) : { ...totalsOf(row), ...flagColumns(row) }

const totalsOf = (row: SessionRow): Partial<SessionRow> => ({
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
