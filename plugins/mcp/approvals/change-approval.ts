import type { Change, Gateway, SpanDraft } from 'guard-gateway/core'
import { type Audit, auditedEvent, waitSpanId } from '../audit/index.ts'
import type { ApprovalRow } from './tables.ts'

/** What a change of an approval writes to Replay and to the audit. */
export interface ApprovalChange {
  /** `approval.allowed`, `approval.denied`, `approval.expired`. */
  readonly name: string
  /** Status of the span that shows the waiting; undefined where it has ended before. */
  readonly waited: 'ok' | 'error' | 'cancelled' | undefined
  /** When the waiting ended, milliseconds since 1970, not before it started. */
  readonly waited_until: number
  readonly reason: string | null
}

/** The whole arguments go when an approval is over. */
export const withoutTexts = ({ id }: ApprovalRow): readonly Change[] => [
  { table: 'mcp_approval_texts', key: id, remove: true },
]

/**
 * Changes an approval that is as `row` says, together with its record and the end of its waiting.
 * Rejects with STORAGE_BUSY, nothing written, if it has changed meanwhile.
 */
export const changeApproval = (
  gateway: Gateway,
  audit: Audit,
  row: ApprovalRow,
  patch: Partial<ApprovalRow>,
  { name, waited, waited_until, reason }: ApprovalChange,
): Promise<void> => {
  const now = gateway.clock.now()
  const spans: readonly SpanDraft[] =
    waited === undefined
      ? []
      : [
          {
            id: waitSpanId(row.id),
            name: 'approval.wait',
            status: waited,
            status_message: reason,
            end_ns: BigInt(waited_until) * 1_000_000n,
          },
        ]
  const { status, used_count, expires_at } = row
  const expected = { status, used_count, expires_at }
  const recorded = auditedEvent(row, { kind: 'approval', name, ...(reason === null ? {} : { reason }) }, now)
  return audit.keepPolicyText(
    {
      origin: 'mcp',
      run: { trace_id: row.trace_id, default_project_id: row.project_id },
      spans,
      events: [],
      rows: [
        { table: 'mcp_approvals', key: row.id, sync: true, patch, expected },
        { table: 'mcp_audit', put: recorded },
        ...(patch.status === 'denied' || patch.status === 'expired' ? withoutTexts(row) : []),
      ],
      whole: false,
      conditional: true,
    },
    true,
  )
}
