import type { Notice, Redactor } from 'guard-gateway/core'
import { newId, sha256 } from '#lib/ids'
import type { Arguments } from '#lib/mcp-check'
import { cutText } from '#lib/text'
import type { Entry } from '../audit/index.ts'
import { MAX_FINDINGS, NAME_CHARS } from '../audit/limits.ts'
import type { RuleFinding } from '../judge/verdict.ts'
import type { ToolDescription } from '../tools/tool-description.ts'
import { previewOf, wholeOf } from './preview.ts'
import type { ApprovalRow, ApprovalTexts } from './tables.ts'

const MESSAGE_CHARS = 1_000

/** A call that a person has to allow. */
export interface Question {
  readonly server_id: string
  /** `mcp_…`, the proxy's own. */
  readonly session_id: string
  readonly project_id: string
  readonly client: { readonly name: string; readonly version: string } | null
  readonly tool: string
  /** Of the arguments as the client sent them, hex. */
  readonly argument_hash: string
  readonly tool_fingerprint: string | null
  readonly tool_says?: ToolDescription | null
  /** The rules that want a person's consent. */
  readonly rule_ids: readonly string[]
  readonly findings: readonly RuleFinding[]
  /** The rules' own words. */
  readonly message: string | null
  readonly policy_version: string
  /** With every digit of integers, as a person is shown them. */
  readonly arguments: Arguments
  /** The arguments to be forwarded, where a transform changes them, and their hash. */
  readonly sent?: Arguments
  readonly sent_argument_hash?: string
  readonly entry: Entry
}

/** What binds an approval: the same call of the same session of the same server. The name of the tool counts as it was sent. */
export const openKey = ({
  server_id,
  session_id,
  tool,
  argument_hash,
}: Pick<Question, 'server_id' | 'session_id' | 'tool' | 'argument_hash'>): string =>
  sha256(JSON.stringify([server_id, session_id, tool, argument_hash]))

/** The pending approval of a question. */
export const pendingApproval = (
  question: Question,
  now: number,
  timeout_ms: number,
  redact: Redactor,
): ApprovalRow => ({
  id: newId('apr_', now),
  status: 'pending',
  scope: 'once',
  server_id: question.server_id,
  session_id: question.session_id,
  client:
    question.client === null
      ? null
      : { name: cutText(question.client.name, NAME_CHARS), version: cutText(question.client.version, NAME_CHARS) },
  tool: cutText(question.tool, NAME_CHARS),
  argument_hash: question.argument_hash,
  tool_fingerprint: question.tool_fingerprint,
  tool_says: question.tool_says ?? null,
  rule_ids: question.rule_ids,
  message: question.message === null ? null : cutText(question.message, MESSAGE_CHARS),
  findings: question.findings.slice(0, MAX_FINDINGS),
  preview: previewOf(question.arguments, redact),
  sent_preview: question.sent === undefined ? null : previewOf(question.sent, redact),
  sent_argument_hash: question.sent_argument_hash ?? null,
  argument_chars: null,
  policy_version: question.policy_version,
  trace_id: question.entry.trace_id,
  span_id: question.entry.span_id,
  used_count: 0,
  created_at: now,
  expires_at: now + timeout_ms,
  decided_at: null,
  decided_via: null,
  reason: null,
  consumed_at: null,
  project_id: question.project_id,
  open_key: openKey(question),
})

/** The whole arguments of a question, where its previews do not show them all. */
export const textsOf = (question: Question, row: ApprovalRow, redact: Redactor): ApprovalTexts | undefined => {
  const whole = wholeOf(question.arguments, redact)
  const sent = question.sent === undefined ? null : wholeOf(question.sent, redact)
  if (whole === row.preview && sent === row.sent_preview) return undefined
  return { id: row.id, arguments: whole, sent_arguments: sent }
}

/** What a person is told of a call that waits; the page asks, its address decides nothing. */
export const approvalNotice = ({ id, tool, server_id, project_id }: ApprovalRow): Notice => ({
  event: 'approval_waiting',
  subject: id,
  text: `A call of tool "${tool}" of MCP server "${server_id}" waits for a person.`,
  path: `/approvals/${encodeURIComponent(id)}`,
  project_id,
})

/** Characters of all arguments. */
export const argumentChars = ({ arguments: args, sent_arguments }: ApprovalTexts): number =>
  args.length + (sent_arguments?.length ?? 0)
