import { budgetLeftSchema } from '#lib/budget'
import { Type } from '#lib/json'

const textOrNull = Type.Union([Type.String(), Type.Null()])
const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const time = Type.String({ format: 'date-time' })
const timeOrNull = Type.Union([time, Type.Null()])
const count = Type.Integer({ minimum: 0 })
const metadata = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
  description: 'At most 64 KiB of JSON, at most 8 levels deep.',
})
/** A body with members that mean nothing is refused. */
const closed = { additionalProperties: false }
const name = Type.Union([Type.Null(), Type.String({ maxLength: 200 })])

/** A session as the administration API gives it. */
export const sessionSchema = Type.Object({
  id: Type.String(),
  project_id: Type.String(),
  agent_id: textOrNull,
  external_id: Type.Union([Type.String(), Type.Null()], {
    description:
      'The id its client uses; one beginning with "opening:" stands for a session recognised by its first words.',
  }),
  external_source: Type.String({ description: 'Header or body field that held the external id, or "derived".' }),
  name: textOrNull,
  metadata,
  client: Type.String({ description: 'User agent of the first request.' }),
  paused: Type.Boolean(),
  paused_at: timeOrNull,
  pause_reason: textOrNull,
  ended_at: Type.Union([time, Type.Null()], {
    description: 'A person has ended it: it is paused for good, unless resumed.',
  }),
  resumed_at: timeOrNull,
  requests: count,
  flagged: count,
  blocked: count,
  errors: count,
  input_tokens: Type.Integer({ description: 'Input that no cache had a part in; `total_input_tokens` is all of it.' }),
  total_input_tokens: Type.Integer({
    description: 'All input, what a cache gave or took included: the same as `input_tokens` of runs.',
  }),
  cached_input_tokens: Type.Integer({ description: 'Of total_input_tokens, those read from a cache.' }),
  output_tokens: count,
  total_tokens: count,
  cache_read_tokens: Type.Integer({ description: 'Of total_tokens, those read from a provider’s cache.' }),
  cost_micro: count,
  playground: Type.Boolean({ description: 'Its requests are those of a scenario of the Playground.' }),
  flagged_at: Type.Union([time, Type.Null()], {
    description:
      'Arrival of the first request that enforcing would have refused, else of the first flagged one; of that since it was resumed.',
  }),
  flagged_rule_id: nullableText('Rule of its flag.'),
  flagged_reason: nullableText('Reason of its flag, such as LOOP_EXACT.'),
  flagged_action: nullableText('Action of that rule; enforcing would have refused the request for block and pause.'),
  requests_since_flag: Type.Integer({ description: 'The flagged request and those after it.' }),
  tokens_since_flag: Type.Integer({ description: 'Tokens of these requests.' }),
  cost_since_flag_micro: Type.Integer({
    description: 'Cost of these requests, in millionths of the billing currency.',
  }),
  created_at: time,
  last_seen_at: time,
})

/** A key of an agent as the administration API gives it: never the key itself. */
const keySchema = Type.Object({
  id: Type.String(),
  prefix: Type.String({ description: 'First characters of the key.' }),
  created_at: time,
  last_used_at: timeOrNull,
})

/** An agent as the administration API gives it. */
export const agentSchema = Type.Object({
  id: Type.String(),
  name: textOrNull,
  project_id: textOrNull,
  metadata,
  registered_by: Type.Union([Type.Literal('api'), Type.Literal('request')]),
  playground: Type.Boolean({ description: 'Requests of the Playground named it first.' }),
  paused: Type.Boolean({ description: 'In some project that whoever asks sees.' }),
  paused_in: Type.Union(
    [
      Type.Object({
        everywhere: Type.Boolean({ description: 'In every project but those named; else in those alone.' }),
        projects: Type.Array(Type.String(), { description: 'By their names.' }),
      }),
      Type.Null(),
    ],
    { description: 'Where it is paused; null: nowhere.' },
  ),
  paused_at: timeOrNull,
  created_at: time,
  keys: Type.Array(keySchema, { description: 'The live keys, oldest first.' }),
})

export const oneSession = Type.Object({ session: sessionSchema })
export const sessionWithBudgets = Type.Object({
  session: sessionSchema,
  budgets: Type.Array(budgetLeftSchema, {
    description: 'What is left of its budgets, and of those of its agent and its project.',
  }),
})
export const oneAgent = Type.Object({ agent: agentSchema })

const page = {
  next_cursor: textOrNull,
  truncated: Type.Boolean({ description: 'The page ended early; the cursor goes on.' }),
}
export const sessionsPage = Type.Object({ sessions: Type.Array(sessionSchema), ...page })
export const agentsPage = Type.Object({ agents: Type.Array(agentSchema), ...page })

const paging = {
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String()),
}
const playground = Type.Optional(
  Type.Boolean({ description: 'true: those of the Playground alone; false: all others.' }),
)
export const sessionsQuery = Type.Object({
  project_id: Type.Optional(Type.String()),
  agent_id: Type.Optional(Type.String()),
  external_id: Type.Optional(Type.String()),
  paused: Type.Optional(Type.Boolean()),
  rule_id: Type.Optional(Type.String({ description: 'The rule of its flag.' })),
  playground,
  ...paging,
})
export const agentsQuery = Type.Object({
  project_id: Type.Optional(Type.String()),
  paused: Type.Optional(Type.Boolean()),
  playground,
  ...paging,
})
export const projectQuery = Type.Object({ project_id: Type.Optional(Type.String()) })

export const sessionParams = Type.Object({
  id: Type.String({ description: 'Session id, or its external id if only one session bears it.' }),
})
export const externalParams = Type.Object({ external_id: Type.String() })
export const agentParams = Type.Object({ id: Type.String() })
export const keyParams = Type.Object({ id: Type.String(), key_id: Type.String() })

/** What may be changed of a session. */
export const sessionChanges = Type.Object(
  { name: Type.Optional(name), metadata: Type.Optional(metadata) },
  { ...closed, examples: [{ name: 'nightly build' }] },
)

/** A pause needs no body. */
export const pauseBody = Type.Union(
  [Type.Null(), Type.Object({ reason: Type.Optional(Type.String({ maxLength: 200 })) }, closed)],
  { examples: [{ reason: 'runs in circles' }] },
)

const newAgent = Type.Object(
  {
    id: Type.Optional(Type.String({ description: '1 to 128 of A-Z a-z 0-9 . _ -; made if absent.' })),
    name: Type.Optional(name),
    project_id: Type.Optional(Type.String({ description: 'Project of its requests that name none.' })),
    metadata: Type.Optional(metadata),
    issue_key: Type.Optional(Type.Boolean({ description: 'True if absent.' })),
  },
  closed,
)
/** A registration needs no body. */
export const newAgentBody = Type.Union([Type.Null(), newAgent], { examples: [{ id: 'reviewer', name: 'Reviewer' }] })

const oneTimeKey = Type.String({ description: 'The key. It is shown once and kept nowhere.' })
export const registered = Type.Object({
  agent: agentSchema,
  key: Type.Optional(oneTimeKey),
  key_id: Type.Optional(Type.String()),
})
export const issued = Type.Object({ agent: agentSchema, key: oneTimeKey, key_id: Type.String() })
