import type { Call, Change, Decision, Gateway, Session, SessionRow, Settled } from 'guard-gateway/core'
import { flagColumns, flagOf, noteFlag } from '#lib/session'
import { newCallRecord, openRecordOf, type Previews } from '#lib/trace'
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
  return decision.decision === 'block' ? [change] : [change, openCall(gateway, instance, settled, session, windows)]
}

/** The changes after another plugin has changed a decision that is on record as `before`. */
export const turnChanges = (
  gateway: Gateway,
  instance: string,
  before: Decision,
  settled: Settled,
  session: Session,
  windows: readonly WindowKey[],
): readonly Change[] => {
  const { call, decision } = settled
  const [was, is] = [countsOf(before, call), countsOf(decision, call)]
  const add = {
    version: 1,
    requests: is.requests - was.requests,
    flagged: is.flagged - was.flagged,
    blocked: is.blocked - was.blocked,
  }
  const open: Change =
    decision.decision === 'block'
      ? { table: 'open_calls', key: call.id, remove: true }
      : openCall(gateway, instance, settled, session, windows)
  return [{ table: 'sessions', key: session.row.id, add }, open]
}

const countsOf = ({ decision, repeats }: Decision, { uncounted }: Call) => ({
  requests: decision === 'block' || uncounted !== undefined ? 0 : 1,
  flagged: decision === 'shadow_flag' && uncounted === undefined ? 1 : 0,
  blocked: decision === 'block' && repeats === null ? 1 : 0,
})

const openCall = (
  gateway: Gateway,
  instance: string,
  settled: Settled,
  { row }: Session,
  windows: readonly WindowKey[],
): Change => {
  const { call, decision } = settled
  const continues = gateway.apiStyles.get(call.style)?.continues === true
  const record = newCallRecord(settled, gateway.redact, NO_PREVIEWS, continues)
  const reserved = decision.row?.reserved ?? 0
  const put = { id: call.id, session_id: row.id, instance, reserved, windows, ...openRecordOf(record) }
  return { table: 'open_calls', put }
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
