import { Type } from '#lib/json'

const moment = (description: string) => Type.Optional(Type.String({ description }))
const oneOf = <const T extends readonly string[]>(names: T, options: object) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: names, ...options })

export const figuresQuery = Type.Object({
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
const instant = Type.String({ format: 'date-time' })
const buckets = Type.Array(Type.Object({ at: instant, ...sums }), { description: 'Steps without calls are left out.' })

export const figuresAnswer = Type.Object({
  since: instant,
  until: instant,
  step: Type.String(),
  group: Type.String(),
  time_zone: Type.String(),
  complete: Type.Boolean({
    description: 'False: of minutes, the oldest calls were too many to read.',
  }),
  starts: Type.Array(instant, { description: 'When each step begins.' }),
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
