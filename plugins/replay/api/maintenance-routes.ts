import type { FastifyInstance } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { Type } from 'guard-gateway/lib/json'
import type { Retention } from '../maintenance/retention.ts'
import type { Stream, StreamKind } from '../stream/stream.ts'
import type { RawQuery } from './filters.ts'
import { checkParameters } from './parameters.ts'
import { streamQuery } from './request-schemas.ts'
import { filesOf, retentionAnswer } from './response-schemas.ts'
import { routeSchema } from './route-schema.ts'

/** Routes of retention and of the stream. */
export const maintenanceRoutes = (app: FastifyInstance, retention: Retention, stream: Stream): void => {
  const kept = routeSchema('What is kept, and what the next pass would remove', { response: { 200: retentionAnswer } })
  app.get('/retention', { schema: kept }, () => retention.report())

  // a closing server waits for responses, and streams do not end by themselves
  app.addHook('preClose', async () => stream.end())

  const schema = routeSchema('Changed runs and notices, or kept events, as server-sent events', {
    querystring: streamQuery,
    response: { 200: filesOf('Until either side ends it.', { 'text/event-stream': Type.String() }) },
  })
  app.get<{ Querystring: RawQuery }>('/stream', { schema }, async ({ headers, query, raw }, reply) => {
    checkParameters(query, Object.keys(streamQuery.properties))
    const events = stream.open(kindOf(query), lastId(headers['last-event-id']))
    raw.socket.once('close', () => stream.close(events))
    return reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-store').send(events)
  })
}

const kindOf = ({ kind = 'runs' }: RawQuery): StreamKind => {
  if (kind === 'runs' || kind === 'events') return kind
  throw new GuardError('INVALID_FILTER', '"kind" must be runs or events.', { path: '/kind' })
}

const lastId = (given: string | string[] | undefined): string | undefined =>
  given === '' ? undefined : given?.toString()
