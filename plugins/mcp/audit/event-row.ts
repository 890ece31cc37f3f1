import { newId } from '#lib/ids'
import { cutText } from '#lib/text'
import type { AuditKind } from './enums.ts'
import { NAME_CHARS } from './limits.ts'
import type { AuditRow } from './tables.ts'

const DETAIL_CHARS = 2_000

/** An event of MCP traffic other than a call. */
export interface AuditEvent {
  readonly kind: Exclude<AuditKind, 'decision'>
  /** `policy.rejected`, `pin.changed`, `list.refused`, `session.ended` and the like. */
  readonly name: string
  /** One sentence. */
  readonly reason?: string
  readonly server_id?: string
  /** Source text of the JSON-RPC id of a refused frame, where it could be read. */
  readonly request_id?: string
  readonly tool?: string
  readonly approval_id?: string
  readonly policy_version?: string
  readonly tool_fingerprint?: string
  /** Of a request that is no call of a tool: what the policy said of it, and what happened. */
  readonly request?: Partial<AuditRow>
}

/** What a record says of a session. */
export type SessionLabels = Pick<
  AuditRow,
  'seq' | 'session_id' | 'server_id' | 'project_id' | 'agent_id' | 'transport' | 'protocol_version'
>

const noSession: SessionLabels = {
  seq: 0,
  session_id: null,
  server_id: null,
  project_id: null,
  agent_id: null,
  transport: null,
  protocol_version: null,
}

/** The audit record of an event. */
export const eventRow = (event: AuditEvent, at: number, labels: SessionLabels = noSession): AuditRow => ({
  id: newId('aud_', at),
  at,
  ...labels,
  server_id: event.server_id ?? labels.server_id,
  kind: event.kind,
  name: cutText(event.name, NAME_CHARS),
  request_id: event.request_id === undefined ? null : cutText(event.request_id, NAME_CHARS),
  tool: event.tool === undefined ? null : cutText(event.tool, NAME_CHARS),
  argument_hash: null,
  argument_bytes: null,
  schema: null,
  action: event.kind === 'refusal' ? 'refused' : null,
  reason_code: null,
  reason: event.reason === undefined ? null : cutText(event.reason, DETAIL_CHARS),
  forwarded: event.kind === 'refusal' ? false : null,
  mode: null,
  rule_ids: null,
  findings: null,
  caller: null,
  approval_id: event.approval_id ?? null,
  policy_version: event.policy_version ?? null,
  tool_fingerprint: event.tool_fingerprint ?? null,
  pin: null,
  transformed: null,
  sent_argument_hash: null,
  outcome: null,
  duration_ms: null,
  result_bytes: null,
  result_findings: null,
  trace_id: null,
  span_id: null,
  parent_span_id: null,
  duration_us: null,
  traced: null,
  tool_call_id: null,
  ...event.request,
})

/** The audit record of what became of an approval. */
export const auditedEvent = (
  approval: {
    readonly id: string
    readonly server_id: string
    readonly session_id: string
    readonly project_id: string
    readonly tool: string
    readonly argument_hash: string
    readonly trace_id: string
    readonly span_id: string
    readonly policy_version: string
  },
  event: Pick<AuditEvent, 'kind' | 'name' | 'reason'>,
  at: number,
): AuditRow => {
  const { id: approval_id, server_id, session_id, project_id, tool, policy_version } = approval
  const row = eventRow({ ...event, approval_id, policy_version, tool }, at, {
    ...noSession,
    server_id,
    session_id,
    project_id,
  })
  return { ...row, argument_hash: approval.argument_hash, trace_id: approval.trace_id, span_id: approval.span_id }
}
