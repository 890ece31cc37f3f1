import type { FastifyInstance } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { Type } from 'typebox'
import type { Retention } from '../maintenance/retention.ts'
import type { Stream, StreamKind } from '../stream/stream.ts'
import { described } from './described.ts'
import type { RawQuery } from './filters.ts'
import { checkParameters } from './parameters.ts'
import { streamQuery } from './request-schemas.ts'
import { filesOf, retentionAnswer } from './response-schemas.ts'

/** What is kept how long, and what is written as it happens. */
export const maintenanceRoutes = (app: FastifyInstance, retention: Retention, stream: Stream): void => {
  const kept = described('What is kept, and what the next pass would remove', { response: { 200: retentionAnswer } })
  app.get('/retention', { schema: kept }, () => retention.report())

  // a server that closes waits for its replies, and these have no end of their own
  app.addHook('preClose', async () => stream.end())

  const schema = described('Changed runs, or kept events, as server-sent events', {
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
