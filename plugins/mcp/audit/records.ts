import type { FragmentEvent, FragmentRun, SpanDraft } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { cutText } from '#lib/text'
import { toolRecords } from '#lib/trace'
import type { RecordedFinding } from '../results/recorded-finding.ts'
import type { AuditSession, Entry } from './entry.ts'
import type { Outcome } from './enums.ts'
import { type CallFacts, type Judgement, reasonCode } from './judgement.ts'
import { MAX_FINDINGS, NAME_CHARS, REASON_CHARS } from './limits.ts'
import type { AuditRow } from './tables.ts'

/** What is known of a session when one of its calls is recorded. */
export interface SessionLabels extends AuditSession {
  readonly protocol_version: string | null
  /** `ses_…`, where the client named a session. */
  readonly guard_session_id: string | null
}

const ns = (ms: number): bigint => BigInt(Math.round(ms * 1000)) * 1000n

/** How the run of a call is labelled; of a run that the caller named, what others have said of it is. */
export const runOf = (
  { trace_id, joined }: Entry,
  { project_id, server_id, guard_session_id: session_id, agent_id }: SessionLabels,
): FragmentRun => ({
  trace_id,
  // who names no project says `default`, and goes with any
  ...(project_id === 'default' ? {} : { project_id }),
  ...(joined ? { joined_by: { session_id, agent_id } } : { session_id, agent_id, name: `mcp ${server_id}` }),
})

/** The audit record of a judged call. */
export const decisionRow = (
  entry: Entry,
  labels: SessionLabels,
  facts: CallFacts,
  judgement: Judgement,
  more: { readonly approval_id: string | null; readonly duration_ms: number },
): AuditRow => ({
  id: entry.id,
  at: entry.at,
  seq: entry.seq,
  kind: 'decision',
  name: 'policy.decision',
  server_id: labels.server_id,
  session_id: labels.id,
  project_id: labels.project_id,
  agent_id: labels.agent_id,
  transport: labels.transport,
  protocol_version: labels.protocol_version,
  request_id: cutText(facts.request_id, NAME_CHARS),
  tool: cutText(facts.tool, NAME_CHARS),
  argument_hash: facts.argument_hash,
  argument_bytes: facts.argument_bytes,
  schema: facts.schema,
  action: judgement.action,
  reason_code: reasonCode(judgement),
  reason: judgement.reason === null ? null : cutText(judgement.reason, REASON_CHARS),
  forwarded: judgement.forwarded,
  mode: judgement.mode,
  rule_ids: judgement.rule_ids,
  findings: judgement.findings.slice(0, MAX_FINDINGS),
  caller: judgement.caller ?? null,
  approval_id: more.approval_id,
  policy_version: judgement.policy_version,
  tool_fingerprint: facts.tool_fingerprint,
  pin: facts.pin,
  transformed: judgement.sent_argument_hash !== undefined,
  sent_argument_hash: judgement.sent_argument_hash ?? null,
  outcome: judgement.forwarded ? null : 'none',
  duration_ms: judgement.forwarded ? null : Math.round(more.duration_ms),
  result_bytes: null,
  result_findings: null,
  trace_id: entry.trace_id,
  span_id: entry.span_id,
  parent_span_id: entry.parent_span_id,
  duration_us: judgement.forwarded ? null : Math.round(more.duration_ms * 1000),
  traced: null,
  tool_call_id: facts.tool_call_id,
})

/** The span and the event of a judged call as they are written to its run: running where it was forwarded and has no outcome. */
export const recordsOf = (
  row: AuditRow,
  join_refused: boolean,
): { readonly span: SpanDraft; readonly event: FragmentEvent } => {
  const { span, event } = toolRecords(row)
  const { id, parent_id, name, kind, status, status_message, start_ns, end_ns, attributes } = span
  return {
    span: { id, parent_id, name, kind, status, status_message, start_ns, end_ns, attributes },
    event: {
      id: event.id,
      span_id: event.span_id,
      name: event.name,
      time_ns: event.time_ns,
      severity: event.severity,
      attributes: join_refused ? { ...event.attributes, trace_join_refused: true } : event.attributes,
    },
  }
}

/** The record of a forwarded call when it has ended. */
export const endOf = (
  outcome: Outcome,
  duration_ms: number,
  result_bytes: number | null,
  findings: readonly RecordedFinding[] = [],
) => ({
  outcome,
  duration_ms: Math.round(duration_ms),
  duration_us: Math.round(duration_ms * 1000),
  result_bytes,
  ...(findings.length === 0 ? {} : { result_findings: findings }),
})

/** Id of the span that shows how long a person was waited for: 16 hex digits. */
export const waitSpanId = (approval_id: string): string => sha256(`approval.wait\0${approval_id}`).slice(0, 16)

/** The span of an approval that is asked for: running until it is decided. */
export const waitSpan = (approval_id: string, entry: Entry, now: number): SpanDraft => ({
  id: waitSpanId(approval_id),
  parent_id: entry.span_id,
  name: 'approval.wait',
  kind: 'policy',
  status: 'running',
  start_ns: ns(now),
  attributes: { 'guard.approval_id': approval_id },
})
