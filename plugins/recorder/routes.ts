import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Reader, SessionRow } from 'guard-gateway/core'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { rejectUnknownFilters } from '#lib/errors'
import { Type, writeJson } from '#lib/json'
import { pages } from '#lib/paging'
import { timeOf } from '#lib/time'
import { type CallRecord, rowOf } from '#lib/trace'
import { aggregatesCsv } from './aggregates.ts'
import { history, historyPage } from './history.ts'

/** Routes of a session's history and of the exports, below `/api`. */
export const routes =
  (gateway: Gateway): FastifyPluginAsyncTypebox =>
  async (app) => {
    const events = { params: sessionParams, querystring: eventsQuery, response: { 200: eventsPage } }
    app.get(
      '/sessions/:id/events',
      { schema: { summary: 'Session decision history', ...events } },
      async ({ params, query }) => {
        rejectUnknownFilters(query, eventsQuery)
        const { id } = await gateway.service('sessions').need().find(params.id)
        const page = await historyPage(gateway.storage, { ...query, session_id: id })
        return { ...page, events: [...page.events] }
      },
    )

    const file = { summary: 'Export one session', params: sessionParams, response: { 200: sessionFile } }
    app.get('/export/sessions/:id.json', { schema: file }, async ({ params }, reply) => {
      const session = await gateway.service('sessions').need().find(params.id)
      const text = sessionJson(gateway.storage, session, gateway.clock.now())
      return reply
        .type('application/json; charset=utf-8')
        .headers(attachment(`${session.id}.json`))
        .send(Readable.from(text))
    })

    const table = {
      summary: 'Export aggregate metrics',
      querystring: aggregatesQuery,
      response: { 200: aggregatesFile },
    }
    app.get('/export/aggregates.csv', { schema: table }, async ({ query }, reply) => {
      rejectUnknownFilters(query, aggregatesQuery)
      const { project_id } = query
      const range = {
        ...time('since', query.since),
        ...time('until', query.until),
        ...(project_id === undefined ? {} : { project_id }),
      }
      const lines = aggregatesCsv(gateway.storage, range)
      return reply
        .type('text/csv; charset=utf-8; header=present')
        .headers(attachment('aggregates.csv'))
        .send(Readable.from(lines))
    })
  }

/** Header of a download. The name has no characters that are special in a shell or a path. */
const attachment = (name: string) => ({
  'content-disposition': `attachment; filename="${name.replaceAll(/[^A-Za-z0-9._-]/g, '_')}"`,
})

const time = (name: 'since' | 'until', text: string | undefined): { readonly [key in typeof name]?: number } => {
  if (text === undefined) return {}
  const at = timeOf(text)
  if (at === undefined)
    throw new GuardError(
      'INVALID_REQUEST',
      `"${name}" is not a time: ${text}. Send a day like 2026-01-31 or a time like 2026-01-31T12:00:00Z.`,
      { path: `/${name}` },
    )
  return { [name]: at }
}

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
const eventsPage = Type.Object({
  events: Type.Array(eventSchema),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
  truncated: Type.Boolean({ description: 'The page ended early; the cursor goes on.' }),
})

const sessionParams = Type.Object({
  id: Type.String({ description: 'Session id, or its external id if only one project uses it.' }),
})

const eventsQuery = Type.Object({
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

const aggregatesQuery = Type.Object({
  since: Type.Optional(moment),
  until: Type.Optional(moment),
  project_id: Type.Optional(Type.String()),
})

/** Export of one session. */
const sessionFile: object = {
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
const aggregatesFile: object = {
  description:
    'A line for each UTC day, project, agent, style, model and upstream; the first names the columns. cost_micro is in millionths of the billing currency.',
  content: { 'text/csv': { schema: Type.String() } },
}

/** A session with its calls and its history, oldest first, as one JSON object. */
export async function* sessionJson(storage: Reader, session: SessionRow, now: number): AsyncGenerator<string> {
  yield `{"schema":"session.v1","exported_at":"${new Date(now).toISOString()}","session":${writeJson(session)},"calls":[`
  yield* elements(pages(storage, 'calls', { where: { session_id: session.id }, order: ['recorded', 'asc'] }), withTurns)
  yield '],"events":['
  yield* elements(history(storage, session.id))
  yield ']}\n'
}

/** Turns in their exported form. */
const withTurns = (record: CallRecord) => {
  const { turns: _turns, ...call } = record
  const { new_turns, user_first } = rowOf(record)
  return { ...call, new_turns, user_first }
}

async function* elements<T>(
  lists: AsyncIterable<readonly T[]>,
  render: (element: T) => unknown = (element) => element,
): AsyncGenerator<string> {
  let separator = '\n'
  for await (const list of lists) {
    let text = ''
    for (const element of list) {
      text += separator + writeJson(render(element))
      separator = ',\n'
    }
    if (text !== '') yield text
  }
}
