import { Type } from 'guard-gateway/lib/json'
import { steps } from 'guard-gateway/lib/time'
import { groups, statsFilters, subjects } from './query.ts'

const given = (description: string) => Type.Optional(Type.String({ description }))
const oneOf = <const T extends readonly string[]>(names: T, options: object) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: names, ...options })

/** Filters are text; the reader validates them. */
export const statsParameters = Type.Object({
  of: Type.Optional(
    oneOf(subjects, {
      description: 'runs (default); or the calls in them: calls, models, tools, commands, each call once.',
    }),
  ),
  group: given(
    `What sums are told apart by: ${groups.join(', ')}, or attribute:NAME. The name of a call is its model, tool or command. none if absent.`,
  ),
  step: Type.Optional(oneOf(steps, { description: 'minute, hour, 6h, day (default), or whole: one step.' })),
  since: given('Runs that began since: RFC 3339, an age such as 24h, today or yesterday. A day ago if absent.'),
  until: given('And before then; the same. Now if absent.'),
  time_zone: given('Where days begin: an IANA name such as Europe/Berlin. UTC if absent.'),
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

export const statsAnswer = Type.Object({
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
