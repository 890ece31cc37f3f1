import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { replayDefaults } from '#lib/config-defaults'
import { rejectUnknownFilters } from '#lib/errors'
import { ConcurrencyLimit, projectHeader } from '#lib/http'
import { Type } from '#lib/json'
import { steps } from '#lib/time'
import { traceFileErrors } from '#lib/trace-file'
import { exactJson, needJson } from './api/bodies.ts'
import type { RawQuery } from './api/filters.ts'
import { priceRoutes } from './api/price-routes.ts'
import { readRoutes } from './api/read-routes.ts'
import { batchBody, importQuery, spanBody, streamQuery, traceBody } from './api/request-schemas.ts'
import { batchAnswer, filesOf, importAnswer, retentionAnswer, spanAnswer, traceAnswer } from './api/response-schemas.ts'
import { routeSchema } from './api/route-schema.ts'
import { acceptForms, FileForm, readFileForm } from './import/form.ts'
import type { ImportAnswer } from './import/import.ts'
import type { Imports } from './import/imports.ts'
import { type Spooled, spooled } from './import/spool.ts'
import { ingestEvents } from './ingest/batch.ts'
import { type Ingest, ingestSpan, ingestTrace } from './ingest/ingest.ts'
import type { Retention } from './maintenance/retention.ts'
import type { ReplayOptions } from './options.ts'
import type { Pricing } from './pricing/pricing.ts'
import type { RunCache } from './read/run-cache.ts'
import { type Group, groups, statsFilters, statsQuery, subjects } from './stats/query.ts'
import { readStats } from './stats/read-stats.ts'
import type { StreamKind } from './stream/sent-messages.ts'
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

/** Answers that are computed at the same time; others wait. */
const AT_ONCE = 2

/** Sums and percentiles over time, below `/api/v1`. */
const statsRoute = (app: FastifyInstance, gateway: Gateway): void => {
  const limit = new ConcurrencyLimit(AT_ONCE)
  const schema = routeSchema('Sums and percentiles of runs and calls over time', {
    querystring: statsParameters,
    response: { 200: statsAnswer },
  })
  app.get<{ Querystring: RawQuery }>('/stats', { schema }, async ({ query }) => {
    const now = gateway.clock.now()
    const parsed = statsQuery(query, now)
    const { of, group, step, buckets } = parsed
    const { series, covered_since, ...stats } = await limit.run(() => readStats(gateway.storage, parsed, now))
    return {
      ...{ of, group: nameOf(group), step, time_zone: buckets.time_zone },
      ...{ since: text(buckets.starts[0] ?? parsed.since), until: text(buckets.end) },
      ...{ ...stats, covered_since: covered_since === null ? null : text(covered_since) },
      series: series.map((one) => ({ ...one, buckets: one.buckets.map((each) => ({ ...each, at: text(each.at) })) })),
    }
  })
}

const nameOf = (group: Group): string => (group.by === 'attribute' ? `attribute:${group.attribute}` : group.by)

const text = (at: number): string => new Date(at).toISOString()

/** Routes of retention and of the stream. */
const maintenanceRoutes = (app: FastifyInstance, retention: Retention, stream: Stream): void => {
  const retentionSchema = routeSchema('What is kept, and what the next pass would remove', {
    response: { 200: retentionAnswer },
  })
  app.get('/retention', { schema: retentionSchema }, () => retention.report())

  // a closing server waits for responses, and streams do not end by themselves
  app.addHook('preClose', async () => stream.end())

  const schema = routeSchema('Changed runs and notices, or kept events, as server-sent events', {
    querystring: streamQuery,
    response: { 200: filesOf('Until either side ends it.', { 'text/event-stream': Type.String() }) },
  })
  app.get<{ Querystring: RawQuery }>('/stream', { schema }, async ({ headers, query, raw }, reply) => {
    rejectUnknownFilters(query, streamQuery)
    const events = stream.open(kindOf(query), lastId(headers['last-event-id']))
    raw.socket.once('close', () => stream.close(events))
    return reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-store').send(events)
  })
}

const kindOf = ({ kind = 'runs' }: RawQuery): StreamKind => {
  if (kind === 'runs' || kind === 'events') return kind
  throw new GuardError('INVALID_FILTER', '"kind" must be runs or events.', { path: '/kind' })
}

const lastId = (param: string | string[] | undefined): string | undefined =>
  param === '' ? undefined : param?.toString()

/** Imports export files of any content type, or from field `file` of a form. */
const importRoute = (imports: Imports) => async (app: FastifyInstance) => {
  const { max_bytes } = imports
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) =>
    spooled(body, request.headers['content-encoding'], max_bytes),
  )
  await acceptForms(app, max_bytes)
  // a closing server waits for responses
  app.addHook('preClose', async () => imports.close())

  const schema = routeSchema('Import a supported trace representation', {
    querystring: importQuery,
    body: filesOf('The file itself, or a form with it.', importedTypes),
    response: { 200: importAnswer, 201: importAnswer },
  })
  app.post<{ Querystring: RawQuery }>('/runs/import', { schema }, async (request, reply) => {
    if (!request.isMultipart()) return answer(reply, await imports.take(fileIn(request.body), request.query, reply))
    const form = new FileForm()
    const file = await readFileForm(request, form, max_bytes)
    return answer(reply, await imports.take(file, { ...request.query, ...form.fields }, reply))
  })
}

const answer = (reply: FastifyReply, answered: ImportAnswer): FastifyReply =>
  reply.code(answered.imported.length > 0 && answered.dry_run !== true ? 201 : 200).send(answered)

const file = Type.Unsafe<string>({ type: 'string', format: 'binary' })
const importedTypes = {
  'application/json': file,
  'application/x-ndjson': file,
  'application/octet-stream': file,
  'multipart/form-data': Type.Object({ file, ...importQuery.properties }),
}

const fileIn = (body: unknown): Spooled => {
  const file = body as Spooled | undefined
  if (file !== undefined && file.size > 0) return file
  throw new GuardError(traceFileErrors.INVALID_IMPORT, 'Send the file itself as the body.', { line: 1 })
}

const param = (description: string) => Type.Optional(Type.String({ description }))
const oneOf = <const T extends readonly string[]>(names: T, options: object) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: names, ...options })

/** Filters are text; the reader validates them. */
const statsParameters = Type.Object({
  of: Type.Optional(
    oneOf(subjects, {
      description: 'runs (default); or the calls in them: calls, models, tools, commands, each call once.',
    }),
  ),
  group: param(
    `What sums are told apart by: ${groups.join(', ')}, or attribute:NAME. The name of a call is its model, tool or command. none if absent.`,
  ),
  step: Type.Optional(oneOf(steps, { description: 'minute, hour, 6h, day (default), or whole: one step.' })),
  since: param('Runs that began since: RFC 3339, an age such as 24h, today or yesterday. A day ago if absent.'),
  until: param('And before then; the same. Now if absent.'),
  time_zone: param('Where days begin: an IANA name such as Europe/Berlin. UTC if absent.'),
  ...Object.fromEntries(statsFilters.map((name) => [name, Type.Optional(Type.String())])),
})

const count = Type.Integer()
const took = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })
const sums = {
  count: Type.Integer({ description: 'Number of runs or calls.' }),
  errors: Type.Integer({ description: 'Those that failed.' }),
  input_tokens: count,
  cached_input_tokens: Type.Integer({ description: 'The part of the input that came from a cache.' }),
  output_tokens: count,
  total_tokens: count,
  cost_micro: Type.Integer({ description: 'Millionths of the billing currency.' }),
  duration_ms: Type.Number({ description: 'All durations together.' }),
  p50_ms: took('Exact, of those with a known duration; null without any.'),
  p95_ms: took('The same.'),
  p99_ms: took('The same.'),
  max_ms: took('The longest.'),
}
const instant = Type.String({ format: 'date-time' })

const statsAnswer = Type.Object({
  of: Type.String({ description: 'What was counted.' }),
  group: Type.String(),
  step: Type.String(),
  time_zone: Type.String(),
  since: instant,
  until: instant,
  runs: Type.Integer({ description: 'How many runs were read.' }),
  complete: Type.Boolean({ description: 'False: more runs match than one answer reads; the oldest are missing.' }),
  covered_since: Type.Union([instant, Type.Null()], { description: 'Begin of the oldest run that was read.' }),
  totals: Type.Object(sums),
  series: Type.Array(
    Type.Object({
      group: Type.Union([Type.String(), Type.Null()], {
        description: 'Null: none. (other): groups beyond the 50 with the most runs or calls.',
      }),
      totals: Type.Object(sums),
      buckets: Type.Array(Type.Object({ at: instant, ...sums }), { description: 'Steps without any are left out.' }),
    }),
  ),
})
