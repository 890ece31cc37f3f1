import { Type } from 'guard-gateway/lib/json'

const id = Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._:@/+=-]+$' })
const idOrNull = Type.Union([id, Type.Null()])
const attributes = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true })

/** `event.v1` in the session history. */
const eventSchema = Type.Object({
  schema: Type.Literal('event.v1'),
  id,
  name: Type.String({ minLength: 1, maxLength: 256 }),
  time_ns: Type.Unsafe<bigint>({ type: 'integer', minimum: 0, description: 'Nanoseconds since 1970, every digit.' }),
  time: Type.String({ format: 'date-time' }),
  trace_id: idOrNull,
  span_id: idOrNull,
  session_id: id,
  project_id: id,
  agent_id: idOrNull,
  request_id: idOrNull,
  origin: Type.Literal('gateway'),
  severity: Type.Union([Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')]),
  attributes,
})

/** A page of a session's history. */
export const eventsPage = Type.Object({
  events: Type.Array(eventSchema),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
  truncated: Type.Boolean({ description: 'The page ended early; the cursor goes on.' }),
})

export const sessionParams = Type.Object({
  id: Type.String({ description: 'Session id, or its external id if only one project uses it.' }),
})

export const eventsQuery = Type.Object({
  decision: Type.Optional(Type.Union([Type.Literal('allow'), Type.Literal('shadow_flag'), Type.Literal('block')])),
  name: Type.Optional(Type.String({ maxLength: 256 })),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String()),
  order: Type.Union([Type.Literal('desc'), Type.Literal('asc')], {
    default: 'desc',
    description: 'By the order in which they were recorded.',
  }),
})

const moment = Type.String({ description: 'A UTC day or an RFC 3339 time.' })

export const aggregatesQuery = Type.Object({
  since: Type.Optional(moment),
  until: Type.Optional(moment),
  project_id: Type.Optional(Type.String()),
})

/** Export of one session. */
export const sessionFile: object = {
  description:
    'The session, its calls and its history, as a file. Session and calls are told as they are stored: times in milliseconds since 1970, cost_micro in millionths of the billing currency.',
  content: {
    'application/json': {
      schema: Type.Object({
        schema: Type.Literal('session.v1'),
        exported_at: Type.String(),
        session: Type.Unknown(),
        calls: Type.Array(Type.Unknown()),
        events: Type.Array(eventSchema),
      }),
    },
  },
}

/** Export of aggregates. */
export const aggregatesFile: object = {
  description:
    'A line for each UTC day, project, agent, style, model and upstream; the first names the columns. cost_micro is in millionths of the billing currency.',
  content: { 'text/csv': { schema: Type.String() } },
}
