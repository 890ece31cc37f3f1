import { type Table, table } from 'guard-gateway/core'
import type { RuleFinding } from '../judge/verdict.ts'
import type { ToolDescription } from '../tools/tool-description.ts'

export const approvalStates = ['pending', 'allowed', 'denied', 'consumed', 'expired'] as const
/** `pending` waits for a person; `allowed` and `denied` wait for the call to come again; the others are over. */
export type ApprovalStatus = (typeof approvalStates)[number]

/** A question to a person about one call, and what became of it. Never the arguments, but for a redacted preview while it is open. */
export interface ApprovalRow {
  /** `apr_…`. */
  readonly id: string
  readonly status: ApprovalStatus
  /** `once`: the first retry takes it; `session`: every retry of the same call does, until the session ends. */
  readonly scope: 'once' | 'session'
  readonly server_id: string
  readonly session_id: string
  readonly client: { readonly name: string; readonly version: string } | null
  readonly tool: string
  readonly argument_hash: string
  readonly tool_fingerprint: string | null
  /** What the server said of the tool; null where it was not asked. */
  readonly tool_says: ToolDescription | null
  /** The rules that asked. */
  readonly rule_ids: readonly string[]
  /** The words of those rules, which may show arguments. */
  readonly message: string | null
  readonly findings: readonly RuleFinding[]
  /** The arguments as the client sent them, redacted and shortened, as JSON. */
  readonly preview: string | null
  /** The same as they would be forwarded, where a transform changes them. */
  readonly sent_preview: string | null
  readonly sent_argument_hash: string | null
  /** Characters of the whole arguments where the previews do not show them to their end. */
  readonly argument_chars: number | null
  readonly policy_version: string
  /** Of the call that asked. */
  readonly trace_id: string
  readonly span_id: string
  readonly used_count: number
  /** Times are milliseconds since 1970. */
  readonly created_at: number
  readonly expires_at: number
  readonly decided_at: number | null
  readonly decided_via: 'api' | 'ui' | 'cli' | null
  /** The approver's words; of an expired one, why. */
  readonly reason: string | null
  readonly consumed_at: number | null
  readonly project_id: string
  /** What is bound to it, while it is open; no two open ones share it. */
  readonly open_key: string | null
}

/** The whole arguments of an approval whose preview is shortened, redacted, as JSON; there until it is over. */
export interface ApprovalTexts {
  readonly id: string
  readonly arguments: string
  readonly sent_arguments: string | null
}

declare module 'guard-gateway/core' {
  interface Tables {
    mcp_approvals: ApprovalRow
    mcp_approval_texts: ApprovalTexts
  }
}

const approvals = table<'mcp_approvals'>({
  id: 'mcp_approvals',
  columns: {
    id: 'text',
    status: 'text',
    scope: 'text',
    server_id: 'text',
    session_id: 'text',
    client: 'json',
    tool: 'text',
    argument_hash: 'text',
    tool_fingerprint: 'text',
    tool_says: 'json',
    rule_ids: 'json',
    message: 'text',
    findings: 'json',
    preview: 'text',
    sent_preview: 'text',
    sent_argument_hash: 'text',
    argument_chars: 'integer',
    policy_version: 'text',
    trace_id: 'text',
    span_id: 'text',
    used_count: 'integer',
    created_at: 'integer',
    expires_at: 'integer',
    decided_at: 'integer',
    decided_via: 'text',
    reason: 'text',
    consumed_at: 'integer',
    project_id: 'text',
    open_key: 'text',
  },
  indexes: [['status', 'expires_at']],
  unique: [['open_key']],
  exact: [
    'id',
    'status',
    'scope',
    'server_id',
    'session_id',
    'argument_hash',
    'sent_argument_hash',
    'tool_fingerprint',
    'policy_version',
    'trace_id',
    'span_id',
    'decided_via',
    'project_id',
    'open_key',
  ],
})

/** A table of its own: lists of approvals do not read what may be long. */
const texts = table<'mcp_approval_texts'>({
  id: 'mcp_approval_texts',
  columns: { id: 'text', arguments: 'text', sent_arguments: 'text' },
  // redacted value by value before: as one text they may be longer than what is looked through, and would be hidden whole
  exact: ['id', 'arguments', 'sent_arguments'],
})

/** What approvals are kept in. */
export const approvalTables: readonly Table[] = [approvals, texts]
