import type { Change, Gateway, Session, SessionRow, Settled } from 'guard-gateway/core'
import { flagColumns, flagOf, noteFlag } from 'guard-gateway/lib/session'
import { newCallRecord, openRecordOf, type Previews } from 'guard-gateway/lib/trace'
import type { WindowKey } from './shared-budgets.ts'

const NO_PREVIEWS: Previews = { request: null, response: null }

/** The changes that put a decision on record: its session at the next version, and the call as long as it is open. The flag of the decision is noted in `session`. */
export const claimChanges = (
  gateway: Gateway,
  instance: string,
  settled: Settled,
  session: Session,
  windows: readonly WindowKey[],
): readonly Change[] => {
  const { call, decision } = settled
  const flag = decision.decision === 'shadow_flag' ? flagOf(decision, call.mode) : undefined
  if (flag !== undefined) noteFlag(session.row, flag, call.at)
  const change = sessionChange(session)
  if (decision.decision === 'block') return [change]
  const continues = gateway.apiStyles.get(call.style)?.continues === true
  const record = newCallRecord(settled, gateway.redact, NO_PREVIEWS, continues)
  const reserved = decision.row?.reserved ?? 0
  const put = { id: call.id, session_id: session.row.id, instance, reserved, windows, ...openRecordOf(record) }
  return [change, { table: 'open_calls', put }]
}

const sessionChange = ({ row, stored }: Session): Change => {
  const { version } = row
  const next = (version ?? 0) + 1
  return stored === true
    ? { table: 'sessions', key: row.id, patch: decidedColumns(row, next), expected: { version } }
    : { table: 'sessions', put: { ...row, version: next }, when: 'absent' }
}

/** The columns of a session that a decision changes. */
const decidedColumns = (row: SessionRow, version: number): Partial<SessionRow> => ({
  version,
  requests: row.requests,
  flagged: row.flagged,
  blocked: row.blocked,
  last_seen_at: row.last_seen_at,
  ...flagColumns(row),
})
