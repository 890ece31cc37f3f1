import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Gateway } from 'guard-gateway/core'
import { rejectUnknownFilters } from '#lib/errors'
import { Type } from '#lib/json'
import { instant } from '#lib/time'
import type { FigureBucket, Figures } from '#lib/trace'
import { HOUR_MS } from './hours.ts'

/** Figures over time, below `/api/v1`. */
export const figureRoutes =
  (gateway: Gateway, figures: Figures): FastifyPluginAsyncTypebox =>
  async (app) => {
    const schema = {
      summary: 'Figures over time',
      tags: ['sessions'],
      querystring: figuresQuery,
      response: { 200: figuresAnswer },
    }
    app.get('/figures', { schema }, async ({ query }) => {
      rejectUnknownFilters(query, figuresQuery)
      const now = gateway.clock.now()
      const { since, until, playground, step, group, ...rest } = query
      const answer = await figures.read({
        ...{ ...rest, step, group },
        since: since === undefined ? now - 24 * HOUR_MS : instant('since', since, now),
        until: until === undefined ? now + 1 : instant('until', until, now),
        playground: playground === undefined ? undefined : playground === 'true',
      })
      const series = answer.series.map(({ buckets, ...one }) => ({ ...one, buckets: buckets.map(dated) }))
      const times = { since: text(answer.since), until: text(answer.until), starts: answer.starts.map(text) }
      return { ...answer, ...times, step, group, buckets: answer.buckets.map(dated), series }
    })
  }

const dated = (bucket: FigureBucket) => ({ ...bucket, at: text(bucket.at) })

const text = (at: number): string => new Date(at).toISOString()

const moment = (description: string) => Type.Optional(Type.String({ description }))
const oneOf = <const T extends readonly string[]>(names: T, options: object) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: names, ...options })

const figuresQuery = Type.Object({
  since: moment('A UTC day, an RFC 3339 time, an age such as 24h, today or yesterday. A day ago if absent.'),
  until: moment('The same; not included. Now if absent.'),
  step: oneOf(['minute', 'hour', '6h', 'day', 'whole'], {
    default: 'hour',
    description: '6h: from midnight UTC. whole: one step of whole hours.',
  }),
  group: oneOf(['none', 'decision', 'reason', 'model', 'agent', 'project', 'upstream'], { default: 'none' }),
  project_id: Type.Optional(Type.String()),
  agent_id: Type.Optional(Type.String()),
  playground: Type.Optional(
    oneOf(['true', 'false'], { description: 'true: calls of the Playground alone; false: all others.' }),
  ),
  time_zone: Type.Optional(
    Type.String({ description: 'Where days begin: an IANA name such as Europe/Berlin. UTC if absent.' }),
  ),
})

const count = Type.Integer()
const took = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })
const sums = {
  ...{ requests: count, allowed: count, flagged: count, blocked: count, blocked_retries: count, errors: count },
  input_tokens: Type.Integer({
    description: 'Input that no cache had a part in: with cache_read_tokens and cache_write_tokens it is all input.',
  }),
  ...{ cache_read_tokens: count, cache_write_tokens: count, output_tokens: count },
  ...{ reasoning_tokens: count, total_tokens: count, bytes_in: count, bytes_out: count, duration_ms: count },
  cost_micro: Type.Integer({ description: 'Millionths of the billing currency.' }),
  p50_ms: took('Of calls that were not blocked, interpolated in a histogram that ends at 300 s.'),
  p95_ms: took('The same.'),
}
const dateTime = Type.String({ format: 'date-time' })
const buckets = Type.Array(Type.Object({ at: dateTime, ...sums }), { description: 'Steps without calls are left out.' })

const figuresAnswer = Type.Object({
  since: dateTime,
  until: dateTime,
  step: Type.String(),
  group: Type.String(),
  time_zone: Type.String(),
  complete: Type.Boolean({
    description: 'False: of minutes, the oldest calls were too many to read.',
  }),
  starts: Type.Array(dateTime, { description: 'When each step begins.' }),
  totals: Type.Object(sums),
  buckets,
  series: Type.Array(
    Type.Object({
      group: Type.Union([Type.String(), Type.Null()], {
        description:
          'Null: none, or all calls where nothing is grouped by. (other): groups beyond the 50 with the most requests.',
      }),
      totals: Type.Object(sums),
      buckets,
    }),
  ),
})
