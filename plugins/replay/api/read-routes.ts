import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { rejectUnknown, rejectUnknownFilters } from '#lib/errors'
import { type ExportOptions, exportFormatKind } from '#lib/export-format'
import { isJsonObject, Type } from '#lib/json'
import { runSummary, streamTrace, type TraceReader } from '#lib/trace-file'
import { replayErrors } from '../error-codes.ts'
import { editRun, readEdit, readPin } from '../ingest/edit.ts'
import { type Alignment, alignments, compare } from '../read/compare.ts'
import type { TimeRange } from '../read/in-window.ts'
import { rowsOf } from '../read/rows.ts'
import { readTrace } from '../read/run.ts'
import type { RunCache } from '../read/run-cache.ts'
import { runReader } from '../read/run-reader.ts'
import { addUse, type Use } from '../read/use.ts'
import { useRows } from '../read/use-rows.ts'
import { LAST_NS } from '../time.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { needJson } from './bodies.ts'
import { comparisonText } from './comparison-text.ts'
import type { RawQuery } from './filters.ts'
import { findRuns } from './find-runs.ts'
import { bundleSchema } from './record-schemas.ts'
import { compareBody, editBody, exportQuery, pinBody, rowsQuery, runParams, runsQuery } from './request-schemas.ts'
import { compareAnswer, editAnswer, filesOf, pinAnswer, rowsAnswer, runsPage, useAnswer } from './response-schemas.ts'
import { routeSchema } from './route-schema.ts'

interface Named {
  readonly Params: { readonly trace_id: string }
  readonly Querystring: RawQuery
}

/** Routes that list, read, export, compare and edit runs, below `/api/v1`. */
export const readRoutes = (app: FastifyInstance, gateway: Gateway, runWriter: RunWriter, cache: RunCache): void => {
  const list = routeSchema('List runs with filters and pagination', {
    querystring: runsQuery,
    response: { 200: runsPage },
  })
  app.get<{ Querystring: RawQuery }>('/runs', { schema: list }, async ({ query }) => {
    const now = gateway.clock.now()
    const { rows, next_cursor, truncated } = await findRuns(gateway.storage, query, now)
    return { runs: rows.map(runSummary), next_cursor, truncated }
  })

  const whole = routeSchema('Read one complete run', { params: runParams, response: { 200: bundleSchema } })
  app.get<Named>('/runs/:trace_id', { schema: whole }, async ({ params }, reply) => {
    const run = await runReader(gateway.storage, params.trace_id)
    return written(gateway, reply, 'json', run)
  })

  const file = routeSchema('Export a run', {
    params: runParams,
    querystring: exportQuery,
    response: { 200: exportFiles(gateway) },
  })
  app.get<Named>('/runs/:trace_id/export', { schema: file }, async ({ params, query }, reply) => {
    rejectUnknownFilters(query, exportQuery)
    const { format = 'json', names } = query
    const entry = gateway.registry(exportFormatKind).get(String(format))
    if (entry === undefined) {
      const known = gateway.registry(exportFormatKind).ids()
      throw new GuardError(
        replayErrors.UNKNOWN_FORMAT,
        `There is no format "${String(format)}"; there is ${known.join(', ')}.`,
        {
          known,
          path: '/format',
        },
      )
    }
    if (names !== undefined && names !== 'semconv' && names !== 'native')
      throw new GuardError('INVALID_FILTER', '"names" must be native or semconv.', { path: '/names' })
    const run = await runReader(gateway.storage, params.trace_id)
    const name = `${params.trace_id}.${entry.extension}`.replaceAll(/[^A-Za-z0-9._-]/g, '_')
    reply.header('content-disposition', `attachment; filename="${name}"`)
    return written(gateway, reply, entry.id, run, {
      exported_at: new Date(gateway.clock.now()).toISOString(),
      generator: { name: 'guard-gateway', version: '1' },
      names: names ?? 'native',
    })
  })

  const rows = routeSchema('Read the tree of a run in pages', {
    params: runParams,
    querystring: rowsQuery,
    response: { 200: rowsAnswer },
  })
  app.get<Named>('/runs/:trace_id/rows', { schema: rows }, async ({ params, query }) => {
    rejectUnknownFilters(query, rowsQuery)
    const [after, limit] = [count(query, 'after', 0, 0), count(query, 'limit', 1, 2_000)]
    const trace = await cache.trace(params.trace_id)
    return rowsOf(trace, after, limit, rangeIn(query, trace.run.start_ns))
  })

  const use = routeSchema('Sum up the calls of a run by model, tool and command', {
    params: runParams,
    response: { 200: useAnswer },
  })
  app.get<Named>('/runs/:trace_id/use', { schema: use }, async ({ params, query }) => {
    rejectUnknown(query, [])
    const { run, spans } = await cache.trace(params.trace_id)
    const uses = new Map<string, Use>()
    addUse(uses, spans)
    return { trace_id: run.trace_id, uses: useRows(uses) }
  })

  const pin = routeSchema('Set pin state', {
    params: runParams,
    body: pinBody,
    response: { 200: pinAnswer },
  })
  app.post<Named>('/runs/:trace_id/pin', { schema: pin }, async ({ params, body }) => {
    const row = await editRun(gateway, runWriter, params.trace_id, { pinned: readPin(body) })
    return { trace_id: row.trace_id, pinned: row.pinned }
  })

  const edit = routeSchema('Change name, tags, failure tag or pin state of a run', {
    params: runParams,
    body: editBody,
    response: { 200: editAnswer },
  })
  app.patch<Named>('/runs/:trace_id', { schema: edit }, async (request) => {
    needJson(request)
    return { run: runSummary(await editRun(gateway, runWriter, request.params.trace_id, readEdit(request.body))) }
  })

  const both = routeSchema('Compare two runs', { body: compareBody, response: { 200: compareAnswer } })
  app.post('/compare', { schema: both }, async (request, reply) => {
    needJson(request)
    const { left, right, align } = pairIn(request.body)
    const first = await readTrace(gateway.storage, left)
    const second = left === right ? first : await readTrace(gateway.storage, right)
    const text = Readable.from(comparisonText(await compare(first, second, align)), { objectMode: false })
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

/** Media types of all export formats. */
const exportFiles = (gateway: Gateway) =>
  filesOf(
    'The run as a file.',
    Object.fromEntries([...gateway.registry(exportFormatKind)].map(({ mediaType }) => [mediaType, Type.Unknown()])),
  )

const written = (gateway: Gateway, reply: FastifyReply, format: string, run: TraceReader, options?: ExportOptions) => {
  const entry = gateway.registry(exportFormatKind).need(format)
  const type = entry.mediaType.startsWith('application/json') ? `${entry.mediaType}; charset=utf-8` : entry.mediaType
  return reply.type(type).send(Readable.from(streamTrace(entry, run, options), { objectMode: false }))
}

const count = (query: RawQuery, name: string, min: number, otherwise: number): number => {
  const text = query[name]
  if (text === undefined) return otherwise
  if (typeof text === 'string' && /^\d{1,9}$/.test(text) && Number(text) >= min) return Number(text)
  throw new GuardError('INVALID_FILTER', `"${name}" must be an integer from ${min}.`, { path: `/${name}` })
}

/** The range of `from` and `to`, which are nanoseconds from the start of the run; undefined without them. */
const rangeIn = (query: RawQuery, start_ns: bigint): TimeRange | undefined => {
  if (query.from === undefined && query.to === undefined) return undefined
  const [from, to] = [nanoseconds(query, 'from') ?? 0n, nanoseconds(query, 'to')]
  if (to !== undefined && to < from)
    throw new GuardError('INVALID_FILTER', '"to" must not be before "from".', { path: '/to' })
  return { from_ns: start_ns + from, to_ns: to === undefined ? LAST_NS : start_ns + to }
}

const nanoseconds = (query: RawQuery, name: 'from' | 'to'): bigint | undefined => {
  const text = query[name]
  if (text === undefined) return undefined
  if (typeof text === 'string' && /^\d{1,19}$/.test(text)) return BigInt(text)
  throw new GuardError('INVALID_FILTER', `"${name}" must be nanoseconds from the start of the run.`, {
    path: `/${name}`,
  })
}

const pairIn = (body: unknown): { readonly left: string; readonly right: string; readonly align: Alignment } => {
  const { left, right, trace_ids, align = 'name' } = isJsonObject(body) ? body : {}
  const [first, second, more] = Array.isArray(trace_ids) ? trace_ids : [left, right]
  if (typeof first !== 'string' || typeof second !== 'string' || more !== undefined)
    throw new GuardError(replayErrors.INVALID_COMPARE, undefined, {
      path: Array.isArray(trace_ids) ? '/trace_ids' : '/left',
    })
  const alignment = alignments.find((known) => known === align)
  if (alignment === undefined)
    throw new GuardError(replayErrors.INVALID_COMPARE, `"align" must be one of ${alignments.join(', ')}.`, {
      path: '/align',
    })
  return { left: first, right: second, align: alignment }
}
