import { toolDecision, toolEventId } from '#lib/trace'
import type { ApprovalRow } from '../approvals/tables.ts'
import type { AuditRow } from '../audit/tables.ts'
import type { ApprovalView } from './approval-schemas.ts'
import type { AuditEventView } from './event-schemas.ts'

const iso = (at: number): string => new Date(at).toISOString()
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

/** A record of the audit as events are delivered. */
export const eventView = (record: AuditRow): AuditEventView => {
  const {
    at,
    schema: schema_state,
    rule_ids,
    findings,
    caller,
    result_findings,
    parent_span_id: _parent,
    duration_us: _us,
    traced: _traced,
    ...row
  } = record
  return {
    ...row,
    // under the id by which Replay delivers it
    id: row.kind === 'decision' ? toolEventId(row.id) : row.id,
    schema: 'event.v1',
    time_ns: BigInt(at) * 1_000_000n,
    time: iso(at),
    origin: 'mcp',
    severity: severityOf(row),
    attributes:
      row.kind === 'decision'
        ? { ...toolDecision(record) }
        : { reason: row.reason, approval_id: row.approval_id, server_id: row.server_id, tool: row.tool },
    schema_state,
    result_findings: (result_findings ?? []).map((finding) => ({ ...finding })),
    caller: caller === null ? null : { ...caller, key: [...caller.key] },
    rule_ids: [...(rule_ids ?? [])],
    findings: (findings ?? []).map(({ rule_id, check, pointer, reason, certain }) => ({
      rule_id,
      check,
      pointer,
      reason,
      certain,
    })),
  }
}

const severityOf = ({ kind, action, name }: Pick<AuditRow, 'kind' | 'action' | 'name'>): 'info' | 'warn' => {
  if (kind === 'decision') return action === 'allow' || action === 'transform' ? 'info' : 'warn'
  return kind === 'refusal' || /\.(rejected|changed|refused|denied)$/.test(name) ? 'warn' : 'info'
}

/** An approval as the API gives it. */
export const approvalView = ({ open_key: _key, argument_chars: _chars, ...row }: ApprovalRow): ApprovalView => ({
  ...row,
  tool_says: row.tool_says === null ? null : { ...row.tool_says, annotations: { ...row.tool_says.annotations } },
  rule_ids: [...row.rule_ids],
  findings: row.findings.map((finding) => ({ ...finding })),
  created_at: iso(row.created_at),
  expires_at: iso(row.expires_at),
  decided_at: isoOrNull(row.decided_at),
  consumed_at: isoOrNull(row.consumed_at),
})
