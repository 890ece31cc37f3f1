import {
  type Attributes,
  cutText,
  type FragmentEvent,
  type FragmentRun,
  newId,
  type SpanDraft,
  sha256,
} from 'guard-gateway/core'
import type { AuditSession, Entry } from './entry.ts'
import { type CallFacts, type Judgement, reasonCode } from './judgement.ts'
import type { AuditRow } from './tables.ts'
import type { Outcome } from './words.ts'

/** Characters of names and ids from outside. */
const NAME_CHARS = 256
const REASON_CHARS = 500
const MAX_FINDINGS = 50

/** What is known of a session when one of its calls is recorded. */
export interface Told extends AuditSession {
  readonly protocol_version: string | null
  /** `ses_…`, where the client named a session. */
  readonly guard_session_id: string | null
}

const ns = (ms: number): bigint => BigInt(Math.round(ms * 1000)) * 1000n

/** How the run of a call is labelled; of a run that the caller named, nothing but its project is said. */
export const runOf = ({ trace_id, joined }: Entry, told: Told): FragmentRun => ({
  trace_id,
  project_id: told.project_id,
  ...(joined ? {} : { session_id: told.guard_session_id, agent_id: told.agent_id, name: `mcp ${told.server_id}` }),
})

/** The audit record of a judged call. */
export const decisionRow = (
  entry: Entry,
  told: Told,
  facts: CallFacts,
  judgement: Judgement,
  more: { readonly approval_id: string | null; readonly duration_ms: number },
): AuditRow => ({
  id: entry.id,
  at: entry.at,
  seq: entry.seq,
  kind: 'decision',
  name: 'policy.decision',
  server_id: told.server_id,
  session_id: told.id,
  project_id: told.project_id,
  agent_id: told.agent_id,
  transport: told.transport,
  protocol_version: told.protocol_version,
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
  approval_id: more.approval_id,
  policy_version: judgement.policy_version,
  tool_fingerprint: facts.tool_fingerprint,
  pin: facts.pin,
  transformed: judgement.sent_argument_hash !== undefined,
  sent_argument_hash: judgement.sent_argument_hash ?? null,
  outcome: judgement.forwarded ? null : 'none',
  duration_ms: judgement.forwarded ? null : Math.round(more.duration_ms),
  result_bytes: null,
  trace_id: entry.trace_id,
  span_id: entry.span_id,
})

/** The `tool.call` span of a judged call: running where it is forwarded, over where it is answered here. */
export const callSpan = (entry: Entry, told: Told, row: AuditRow, duration_ms: number): SpanDraft => ({
  id: entry.span_id,
  parent_id: entry.parent_span_id,
  name: 'tool.call',
  kind: 'tool',
  start_ns: ns(entry.at),
  ...(row.forwarded === true
    ? { status: 'running' }
    : {
        status: row.action === 'confirm' && row.reason_code !== 'MCP_DENIED' ? 'ok' : 'error',
        status_message: row.reason,
        end_ns: ns(entry.at + duration_ms),
      }),
  attributes: present({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': row.tool,
    'mcp.method.name': 'tools/call',
    'mcp.session.id': sessionMark(told.id),
    'mcp.protocol.version': told.protocol_version,
    'jsonrpc.request.id': row.request_id,
    'network.transport': networks[told.transport] ?? null,
    'guard.mcp.server_id': told.server_id,
    'guard.argument_hash': row.argument_hash,
    'guard.decision': decisionOf(row),
    'guard.forwarded': row.forwarded,
    'guard.reason': row.reason_code,
    'guard.approval_id': row.approval_id,
  }),
})

/** How a client's door is called in semantic conventions; one inside the process is no network. */
const networks: Readonly<Record<string, string>> = { http: 'tcp', stdio: 'pipe' }

/** The first characters of a session's id: enough to tell sessions apart, too few to take part in one. */
export const sessionMark = (id: string): string => id.slice(0, 16)

const decisionOf = ({ action }: AuditRow): string | null =>
  action === 'invalid' || action === 'refused' ? 'deny' : action

/** The `policy.decision` event of a judged call. */
export const decisionEvent = (entry: Entry, row: AuditRow): FragmentEvent => ({
  id: newId('evt_', entry.at),
  span_id: entry.span_id,
  name: 'policy.decision',
  time_ns: ns(entry.at),
  severity: row.action === 'allow' || row.action === 'transform' ? 'info' : 'warn',
  attributes: { ...decisionAttributes(row), ...(entry.join_refused ? { trace_join_refused: true } : {}) },
})

/** A decision in the words of event.v1: `decision` is what the policy said, `forwarded` what happened. */
export const decisionAttributes = (row: AuditRow): Attributes =>
  present({
    decision: decisionOf(row),
    action: decisionOf(row),
    mode: row.mode,
    reason_code: row.reason_code,
    rule_id: row.rule_ids?.[0] ?? null,
    rule_ids: row.rule_ids,
    policy_version: row.policy_version,
    argument_hash: row.argument_hash,
    approval_id: row.approval_id,
    forwarded: row.forwarded,
    reason: row.reason,
    server_id: row.server_id,
    tool: row.tool,
  })

const statuses: Readonly<Record<Outcome, string>> = {
  ok: 'ok',
  tool_error: 'error',
  rpc_error: 'error',
  lost: 'error',
  cancelled: 'cancelled',
  timeout: 'timeout',
  none: 'error',
}

/** The span of a forwarded call when it has ended. */
export const endedSpan = (running: SpanDraft, entry: Entry, outcome: Outcome, duration_ms: number): SpanDraft => ({
  ...running,
  status: statuses[outcome],
  end_ns: ns(entry.at + duration_ms),
  attributes: {
    ...running.attributes,
    'guard.outcome': outcome,
    ...(outcome === 'ok' || outcome === 'cancelled' ? {} : { 'error.type': outcome }),
  },
})

/** Id of the span that shows how long a person was waited for: 16 hex digits. */
export const waitSpanId = (approval_id: string): string => sha256(`approval.wait\0${approval_id}`).slice(0, 16)

/** The span of an approval that is asked for: running until it is decided. */
export const waitSpan = (approval_id: string, asked: Entry, now: number): SpanDraft => ({
  id: waitSpanId(approval_id),
  parent_id: asked.span_id,
  name: 'approval.wait',
  kind: 'policy',
  status: 'running',
  start_ns: ns(now),
  attributes: { 'guard.approval_id': approval_id },
})

const present = (attributes: Record<string, unknown>): Attributes => {
  for (const name in attributes) if (attributes[name] === null) delete attributes[name]
  return attributes
}
