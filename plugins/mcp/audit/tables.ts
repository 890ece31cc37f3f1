import { type Table, table } from 'guard-gateway/core'
import type { ToolRecord } from '#lib/trace'
import type { Caller } from '../judge/tool-call.ts'
import type { RuleFinding } from '../judge/verdict.ts'
import type { RecordedFinding } from '../results/recorded-finding.ts'
import type { AuditKind, JudgedAction, Outcome, PinState, ReasonCode, SchemaState } from './enums.ts'

/** One thing on record about MCP traffic: a judged call, a refused frame, or an event. Never an argument. */
export interface AuditRow extends ToolRecord {
  /** `aud_…`. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Counts within the session, from 1; 0 for what belongs to none. */
  readonly seq: number
  readonly kind: AuditKind
  /** `policy.decision` for a call, its method for another request, `frame.refused` for a frame, else what happened: `policy.rejected`, `pin.changed` and the like. */
  readonly name: string
  readonly server_id: string | null
  /** `mcp_…`, the proxy's own. */
  readonly session_id: string | null
  readonly project_id: string | null
  readonly agent_id: string | null
  readonly transport: string | null
  readonly protocol_version: string | null
  /** The JSON-RPC id as text. */
  readonly request_id: string | null
  readonly tool: string | null
  /** HMAC-SHA-256 of the arguments as the client sent them, hex. */
  readonly argument_hash: string | null
  readonly argument_bytes: number | null
  readonly schema: SchemaState | null
  /** What the policy said. */
  readonly action: JudgedAction | null
  readonly reason_code: ReasonCode | null
  /** Why, in a sentence; of events, what happened. */
  readonly reason: string | null
  /** What happened. */
  readonly forwarded: boolean | null
  readonly mode: 'enforce' | 'shadow' | null
  readonly rule_ids: readonly string[] | null
  readonly findings: readonly RuleFinding[] | null
  /** Who asked, where rules about the tool name callers or limit them. */
  readonly caller: Caller | null
  readonly approval_id: string | null
  readonly policy_version: string | null
  readonly tool_fingerprint: string | null
  readonly pin: PinState | null
  readonly transformed: boolean | null
  readonly sent_argument_hash: string | null
  /** Null while a forwarded call has no answer. */
  readonly outcome: Outcome | null
  readonly duration_ms: number | null
  readonly result_bytes: number | null
  /** What checks found in the result, and what was done about it. */
  readonly result_findings: readonly RecordedFinding[] | null
  readonly trace_id: string | null
  readonly span_id: string | null
  readonly parent_span_id: string | null
  readonly duration_us: number | null
  readonly traced: boolean | null
  readonly tool_call_id: string | null
}

/** A policy that was in force once. */
export interface PolicyTextRow {
  /** Hex SHA-256 of the canonical policy with its variables filled in. */
  readonly version: string
  /** As it was in its file. */
  readonly text: string
  readonly loaded_at: number
}

declare module 'guard-gateway/core' {
  interface Tables {
    mcp_audit: AuditRow
    mcp_policies: PolicyTextRow
  }
}

const audit = table<'mcp_audit'>({
  id: 'mcp_audit',
  columns: {
    id: 'text',
    at: 'integer',
    seq: 'integer',
    kind: 'text',
    name: 'text',
    server_id: 'text',
    session_id: 'text',
    project_id: 'text',
    agent_id: 'text',
    transport: 'text',
    protocol_version: 'text',
    request_id: 'text',
    tool: 'text',
    argument_hash: 'text',
    argument_bytes: 'integer',
    schema: 'text',
    action: 'text',
    reason_code: 'text',
    reason: 'text',
    forwarded: 'boolean',
    mode: 'text',
    rule_ids: 'json',
    findings: 'json',
    caller: 'json',
    approval_id: 'text',
    policy_version: 'text',
    tool_fingerprint: 'text',
    pin: 'text',
    transformed: 'boolean',
    sent_argument_hash: 'text',
    outcome: 'text',
    duration_ms: 'integer',
    result_bytes: 'integer',
    result_findings: 'json',
    trace_id: 'text',
    span_id: 'text',
    parent_span_id: 'text',
    duration_us: 'integer',
    traced: 'boolean',
    tool_call_id: 'text',
  },
  indexes: [['at'], ['session_id', 'at'], ['trace_id', 'recorded']],
  exact: [
    'id',
    'kind',
    'name',
    'server_id',
    'session_id',
    'project_id',
    'agent_id',
    'transport',
    'argument_hash',
    'schema',
    'action',
    'reason_code',
    'mode',
    'approval_id',
    'policy_version',
    'tool_fingerprint',
    'pin',
    'sent_argument_hash',
    'outcome',
    'trace_id',
    'span_id',
    'parent_span_id',
  ],
})

const policies = table<'mcp_policies'>({
  id: 'mcp_policies',
  key: ['version'],
  columns: { version: 'text', text: 'text', loaded_at: 'integer' },
  exact: ['version'],
})

/** What the audit keeps. */
export const auditTables: readonly Table[] = [audit, policies]
