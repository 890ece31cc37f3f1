import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import { replayDefaults } from 'guard-gateway/lib/config-defaults'
import { projectHeader } from 'guard-gateway/lib/http'
import { exactJson, needJson } from './api/bodies.ts'
import { maintenanceRoutes } from './api/maintenance-routes.ts'
import { priceRoutes } from './api/price-routes.ts'
import { readRoutes } from './api/read-routes.ts'
import { batchBody, spanBody, traceBody } from './api/request-schemas.ts'
import { batchAnswer, spanAnswer, traceAnswer } from './api/response-schemas.ts'
import { routeSchema } from './api/route-schema.ts'
import type { Imports } from './import/imports.ts'
import { importRoute } from './import/route.ts'
import { ingestEvents } from './ingest/batch.ts'
import { type Ingest, ingestSpan, ingestTrace } from './ingest/ingest.ts'
import type { Retention } from './maintenance/retention.ts'
import type { ReplayOptions } from './options.ts'
import type { Pricing } from './pricing/pricing.ts'
import type { RunCache } from './read/run-cache.ts'
import { statsRoute } from './stats/route.ts'
import type { Stream } from './stream/stream.ts'
import type { RunWriter } from './write/run-writer.ts'

export interface Parts {
  readonly gateway: Gateway
  readonly imports: Imports
  readonly runWriter: RunWriter
  readonly cache: RunCache
  readonly retention: Retention
  readonly pricing: Pricing
  readonly stream: Stream
}

/** Routes of the trace store, below `/api/v1`. */
export const routes = (parts: Parts, options: ReplayOptions) => async (app: FastifyInstance) => {
  const { gateway, imports, runWriter, cache, retention, pricing, stream } = parts
  exactJson(app, options.max_body_bytes ?? replayDefaults.max_body_bytes)

  const trace = routeSchema('Ingest a trace with nested spans, events and artifacts', {
    body: traceBody,
    response: { 200: traceAnswer, 201: traceAnswer },
  })
  app.post('/traces', { schema: trace }, async (request, reply) => {
    needJson(request)
    const answer = await ingestTrace(ingestOf(request), request.body)
    return reply.code(answer.created ? 201 : 200).send(answer)
  })

  const span = routeSchema('Ingest one span', {
    body: spanBody,
    response: { 200: spanAnswer, 201: spanAnswer },
  })
  app.post('/spans', { schema: span }, async (request, reply) => {
    needJson(request)
    const answer = await ingestSpan(ingestOf(request), request.body)
    return reply.code(answer.created ? 201 : 200).send(answer)
  })

  const events = routeSchema('Ingest an event batch', { body: batchBody, response: { 200: batchAnswer } })
  app.post('/events/batch', { schema: events }, async (request) => {
    needJson(request)
    return ingestEvents(ingestOf(request), request.body)
  })

  readRoutes(app, gateway, runWriter, cache)
  statsRoute(app, gateway)
  maintenanceRoutes(app, retention, stream)
  priceRoutes(app, gateway, pricing)
  await app.register(importRoute(imports))

  const ingestOf = ({ headers }: FastifyRequest): Ingest => ({
    gateway,
    runWriter,
    project_id: projectHeader(headers, gateway.redact),
  })
}
