import type { Static } from 'typebox'
import { Type } from '#lib/json'
import { auditKinds, judgedActions, outcomes, pinStates, reasonCodes, schemaStates } from '../audit/enums.ts'
import { resultActions } from '../results/recorded-finding.ts'
import {
  countOrNull,
  flagOrNull,
  oneOf,
  oneOfOrNull,
  paged,
  paging,
  since,
  text,
  textOrNull,
  time,
} from './schema-parts.ts'

const named = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

/** What a check found in the arguments of a call. */
export const finding = Type.Object({
  rule_id: text,
  check: text,
  pointer: Type.String({ description: 'JSON pointer into the arguments.' }),
  reason: text,
  certain: Type.Boolean({ description: 'False: the check could not tell.' }),
})

/** A record of the audit: event.v1 with the fields of the record beside it. */
const auditEvent = Type.Object({
  schema: Type.Literal('event.v1'),
  id: text,
  name: Type.String({ description: 'policy.decision, frame.refused, approval.allowed, pin.changed and the like.' }),
  time_ns: Type.Unsafe<bigint>({ type: 'integer', minimum: 0, description: 'Nanoseconds since 1970, every digit.' }),
  time,
  trace_id: textOrNull,
  span_id: textOrNull,
  session_id: Type.Union([Type.String(), Type.Null()], { description: 'The MCP session, mcp_….' }),
  project_id: textOrNull,
  agent_id: textOrNull,
  request_id: Type.Union([Type.String(), Type.Null()], { description: 'The JSON-RPC id as text.' }),
  origin: Type.Literal('mcp'),
  severity: oneOf(['info', 'warn', 'error']),
  attributes: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
  seq: Type.Integer({ minimum: 0, description: 'Counts within the session.' }),
  kind: oneOf(auditKinds),
  server_id: textOrNull,
  transport: textOrNull,
  protocol_version: textOrNull,
  tool: textOrNull,
  argument_hash: Type.Union([Type.String(), Type.Null()], {
    description: 'Keyed hash of the arguments: equal for equal calls, and not to be guessed from outside.',
  }),
  argument_bytes: countOrNull,
  schema_state: oneOfOrNull(schemaStates, { description: 'What came of validating the arguments.' }),
  action: oneOfOrNull(judgedActions, { description: 'What the policy said.' }),
  reason_code: oneOfOrNull(reasonCodes),
  reason: textOrNull,
  forwarded: Type.Union([Type.Boolean(), Type.Null()], { description: 'What happened.' }),
  mode: oneOfOrNull(['enforce', 'shadow']),
  rule_ids: Type.Array(text),
  findings: Type.Array(finding),
  caller: Type.Union(
    [
      Type.Object({
        agent: named('The agent, by its id.'),
        project: named('The project, by its id.'),
        session: named('The session that the client names.'),
        client: named('What the client calls itself.'),
        key: Type.Array(text, { description: 'Id and name of the key that opened the session.' }),
      }),
      Type.Null(),
    ],
    { description: 'Who asked, where rules about the tool name callers.' },
  ),
  approval_id: textOrNull,
  policy_version: textOrNull,
  tool_fingerprint: textOrNull,
  pin: oneOfOrNull(pinStates),
  transformed: flagOrNull,
  sent_argument_hash: textOrNull,
  outcome: oneOfOrNull(outcomes, { description: 'Null while a forwarded call has no answer.' }),
  duration_ms: countOrNull,
  result_bytes: countOrNull,
  result_findings: Type.Array(
    Type.Object({
      rule_id: text,
      check: text,
      pointer: Type.String({ description: 'JSON pointer into the result.' }),
      reason: text,
      certain: Type.Boolean({ description: 'False: the check could not tell.' }),
      action: oneOf(resultActions, { description: 'What was done about it; shadow: nothing but this record.' }),
    }),
    { description: 'What checks found in the result.' },
  ),
})
export type AuditEventView = Static<typeof auditEvent>

export const eventsPage = Type.Object({ events: Type.Array(auditEvent), ...paged })

const filters = {
  server_id: Type.Optional(text),
  session_id: Type.Optional(text),
  tool: Type.Optional(text),
  action: Type.Optional(oneOf(judgedActions)),
  kind: Type.Optional(oneOf(auditKinds)),
  since: Type.Optional(since),
}
export const eventsQuery = Type.Object({ ...filters, ...paging(500) })
export const exportQuery = Type.Object({
  ...filters,
  format: Type.Optional(oneOf(['json', 'jsonl'], { description: 'json if absent.' })),
})

/** The audit bundle. */
export const auditFile: object = {
  description: 'The bundle as one object, or as lines of one record each.',
  content: {
    'application/json': {
      schema: Type.Object({
        schema: Type.Literal('mcp-audit.v1'),
        exported_at: Type.String(),
        generator: Type.Object({ name: Type.String(), version: Type.String() }),
        policies: Type.Array(Type.Unknown()),
        servers: Type.Array(Type.Unknown()),
        approvals: Type.Array(Type.Unknown()),
        events: Type.Array(auditEvent),
      }),
    },
    'application/x-ndjson': { schema: Type.String() },
  },
}
