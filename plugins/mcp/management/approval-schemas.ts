import type { Static } from 'typebox'
import { Type } from '#lib/json'
import { approvalStates } from '../approvals/tables.ts'
import { finding } from './event-schemas.ts'
import { count, oneOf, oneOfOrNull, paged, paging, text, textOrNull, time, timeOrNull } from './schema-parts.ts'

/** An approval as the API gives it. */
export const approval = Type.Object({
  id: text,
  status: oneOf(approvalStates),
  scope: oneOf(['once', 'session']),
  server_id: text,
  session_id: text,
  project_id: text,
  client: Type.Union([Type.Object({ name: text, version: text }), Type.Null()]),
  tool: text,
  argument_hash: text,
  tool_fingerprint: textOrNull,
  tool_says: Type.Union(
    [
      Type.Object({
        title: textOrNull,
        description: textOrNull,
        annotations: Type.Record(Type.String(), Type.Boolean()),
      }),
      Type.Null(),
    ],
    {
      description:
        "The server's own words about its tool when it was asked for, redacted, the description at most 2,000 characters. Nobody has checked them: they may say what is not so.",
    },
  ),
  rule_ids: Type.Array(text),
  message: Type.Union([Type.String(), Type.Null()], {
    description: 'The words of the rules that asked, which may show arguments; there as long as the preview.',
  }),
  findings: Type.Array(finding),
  preview: Type.Union([Type.String(), Type.Null()], {
    description: 'The arguments as JSON, redacted and shortened; there while the approval can be decided or used.',
  }),
  sent_preview: Type.Union([Type.String(), Type.Null()], {
    description: 'The same as they will be forwarded, where a transform changes them.',
  }),
  sent_argument_hash: textOrNull,
  policy_version: text,
  trace_id: text,
  span_id: text,
  used_count: count,
  created_at: time,
  expires_at: time,
  decided_at: timeOrNull,
  decided_via: oneOfOrNull(['api', 'ui', 'cli']),
  reason: textOrNull,
  consumed_at: timeOrNull,
})
export type ApprovalView = Static<typeof approval>

/** One approval with its arguments to the end, where its previews are shortened. */
export const wholeApproval = Type.Object({
  ...approval.properties,
  arguments: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        'The whole arguments as JSON, redacted; absent where the preview is all of them, null once the approval is over.',
    }),
  ),
  sent_arguments: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'The same as they will be forwarded, where a transform changes them.',
    }),
  ),
})
export type WholeApprovalView = Static<typeof wholeApproval>

export const approvalsPage = Type.Object({ approvals: Type.Array(approval), ...paged })
export const approvalsQuery = Type.Object({
  status: Type.Optional(oneOf(approvalStates)),
  server_id: Type.Optional(text),
  session_id: Type.Optional(text),
  tool: Type.Optional(text),
  ...paging(500),
})
export const approvalParams = Type.Object({ id: Type.String({ description: 'apr_…' }) })
export const decisionBody = Type.Object(
  {
    action: oneOf(['allow', 'deny']),
    scope: Type.Optional(oneOf(['once', 'session'], { description: 'once if absent.' })),
    reason: Type.Optional(
      Type.Union([Type.String({ maxLength: 500 }), Type.Null()], {
        description: 'Kept with the decision; of a denial the agent reads it.',
      }),
    ),
    argument_hash: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{16,64}$',
        description:
          'What was looked at: the hash of the arguments, or its first 16 digits and more. If the approval has another, nothing is decided and the answer is 409.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ action: 'allow', scope: 'once' }] },
)
