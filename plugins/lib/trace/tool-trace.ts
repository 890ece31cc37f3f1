import type { Attributes } from 'guard-gateway/core'
import { labelOf, present } from './call-trace.ts'
import type { TraceSpan as Span, TraceEvent } from './run.ts'
import type { ToolRecord } from './tool-record.ts'

/** Of an MCP session's id: enough to tell sessions apart, too few to take part in one. */
const SESSION_CHARS = 16

/** The record of a judged call of a tool as the span and the event it stands for. */
export const toolRecords = (record: ToolRecord): { readonly span: Span; readonly event: TraceEvent } => ({
  span: toolSpan(record),
  event: {
    id: toolEventId(record.id),
    span_id: record.span_id,
    name: 'policy.decision',
    time_ns: microseconds(record.at * 1000),
    severity: record.action === 'allow' || record.action === 'transform' ? 'info' : 'warn',
    owner: 'mcp',
    request_id: null,
    attributes: toolDecision(record),
  },
})

/** Id of the decision event of a call: `aud_x` decides in `evt_x`. */
export const toolEventId = (id: string): string => `evt_${id.slice(id.indexOf('_') + 1)}`

/** When a call started and ended, nanoseconds since 1970; the end is null while it runs. */
export const toolTimes = ({
  at,
  outcome,
  duration_us,
}: ToolRecord): { readonly start_ns: bigint; readonly end_ns: bigint | null } => ({
  start_ns: microseconds(at * 1000),
  end_ns: outcome === null ? null : microseconds(at * 1000 + (duration_us ?? 0)),
})

const microseconds = (us: number): bigint => BigInt(Math.round(us)) * 1000n

const toolSpan = (record: ToolRecord): Span => ({
  id: record.span_id ?? '',
  parent_id: record.parent_span_id,
  name: 'tool.call',
  kind: 'tool',
  label: record.tool === null ? null : labelOf(record.tool),
  status: statusOf(record),
  status_message: record.forwarded === true ? null : record.reason,
  ...toolTimes(record),
  owner: 'mcp',
  model: null,
  input_tokens: null,
  output_tokens: null,
  cost_micro: null,
  attributes: present({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': record.tool,
    'gen_ai.tool.call.id': record.tool_call_id,
    'mcp.method.name': 'tools/call',
    'mcp.session.id': record.session_id === null ? null : record.session_id.slice(0, SESSION_CHARS),
    'mcp.protocol.version': record.protocol_version,
    'jsonrpc.request.id': record.request_id,
    'network.transport': NETWORKS[record.transport ?? ''] ?? null,
    'guard.mcp.server_id': record.server_id,
    'guard.argument_hash': record.argument_hash,
    'guard.decision': decisionOf(record),
    'guard.forwarded': record.forwarded,
    'guard.reason': record.reason_code,
    'guard.approval_id': record.approval_id,
    'guard.outcome': record.outcome === 'none' ? null : record.outcome,
    'error.type': record.outcome === null || UNERRING.has(record.outcome) ? null : record.outcome,
  }),
})

const UNERRING: ReadonlySet<string> = new Set(['ok', 'cancelled', 'none'])

/** How a client's door is called in semantic conventions; one inside the process is no network. */
const NETWORKS: Readonly<Record<string, string>> = { http: 'tcp', stdio: 'pipe' }

const STATUSES: Readonly<Record<string, string>> = { ok: 'ok', cancelled: 'cancelled', timeout: 'timeout' }

const statusOf = ({ forwarded, outcome, action, reason_code }: ToolRecord): string => {
  if (forwarded !== true) return action === 'confirm' && reason_code !== 'MCP_DENIED' ? 'ok' : 'error'
  return outcome === null ? 'running' : (STATUSES[outcome] ?? 'error')
}

const decisionOf = ({ action }: ToolRecord): string | null =>
  action === 'invalid' || action === 'refused' ? 'deny' : action

/** A decision in the words of event.v1: `decision` is what the policy said, `forwarded` what happened. */
export const toolDecision = (record: ToolRecord): Attributes =>
  present({
    decision: decisionOf(record),
    action: decisionOf(record),
    mode: record.mode,
    reason_code: record.reason_code,
    rule_id: record.rule_ids?.[0] ?? null,
    rule_ids: record.rule_ids,
    policy_version: record.policy_version,
    argument_hash: record.argument_hash,
    approval_id: record.approval_id,
    forwarded: record.forwarded,
    reason: record.reason,
    server_id: record.server_id,
    tool: record.tool,
  })
