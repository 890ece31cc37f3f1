import { failureTags, spanKinds } from 'guard-gateway/core'
import type { TSchema } from 'typebox'
import { Type } from '#lib/json'

export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const oneOf = <const V extends readonly string[]>(values: V, description?: string) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...(description === undefined ? {} : { description }) })

export const text = Type.String()
export const textOrNull = orNull(Type.String())
export const count = Type.Integer({ minimum: 0 })
export const recordId = Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._:@/+=-]+$' })
export const recordIdOrNull = orNull(recordId)
export const failureTagOrNull = orNull(oneOf(failureTags))

const exact = { description: 'Every digit: a reader that takes numbers for doubles rounds it.' }
/** An integer beyond double precision. */
export const bigInteger = Type.Unsafe<bigint>({ type: 'integer', ...exact })
const bigOrNull = orNull(bigInteger)
const nanoseconds = Type.Unsafe<bigint>({ type: 'integer', minimum: 0, description: 'Nanoseconds since 1970.' })
const nanosecondsOrNull = orNull(nanoseconds)

const attributes = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
  description: 'Any JSON values, after redaction.',
})
const status = Type.String({
  pattern: '^[a-z][a-z0-9_]{0,31}$',
  description:
    'running, ok, error, cancelled; also timeout, blocked, `unset` for a tool call whose result nobody saw, and what writers say.',
})
const owner = oneOf(['gateway', 'mcp', 'client'], 'Who wrote the record.')
const severity = oneOf(['info', 'warn', 'error'])
const kind = oneOf(spanKinds)

const summary = {
  id: recordId,
  trace_id: recordId,
  project_id: recordId,
  session_id: recordIdOrNull,
  agent_id: recordIdOrNull,
  task_id: textOrNull,
  agent_name: textOrNull,
  name: textOrNull,
  status,
  failure_tag: failureTagOrNull,
  failure_tag_source: orNull(oneOf(['explicit', 'derived'])),
  failure_evidence: orNull(
    Type.Object({ rule: text, span_id: textOrNull, event_id: textOrNull, field: text }, { description: 'Why.' }),
  ),
  start_ns: nanoseconds,
  end_ns: nanosecondsOrNull,
  duration_ns: bigOrNull,
  input_tokens: Type.Unsafe<bigint>({ type: 'integer', description: 'All input, what a cache gave or took included.' }),
  cached_input_tokens: Type.Unsafe<bigint>({ type: 'integer', description: 'Of input_tokens, those from a cache.' }),
  output_tokens: bigInteger,
  total_tokens: bigInteger,
  cost_micro: Type.Unsafe<bigint>({
    type: 'integer',
    description: 'Millionths of the billing currency, which the price file names.',
  }),
  span_count: count,
  event_count: count,
  artifact_count: count,
  pinned: Type.Boolean(),
  tags: Type.Array(text),
  origin: oneOf(['gateway', 'mcp', 'api', 'otlp', 'import', 'playground']),
  source_trace_id: recordIdOrNull,
  recorded_ns: nanoseconds,
}

/** A run in lists and responses. */
export const runSummarySchema = Type.Object(summary)

const event = Type.Object({
  id: recordId,
  name: text,
  time_ns: nanoseconds,
  severity,
  owner,
  request_id: recordIdOrNull,
  attributes,
})

const span = Type.Object({
  id: recordId,
  parent_id: recordIdOrNull,
  declared_parent_id: Type.Optional(recordId),
  name: text,
  kind,
  label: textOrNull,
  status,
  status_message: textOrNull,
  start_ns: nanoseconds,
  end_ns: nanosecondsOrNull,
  owner,
  attributes,
  events: Type.Array(event),
})

const artifact = Type.Object({
  id: recordId,
  span_id: recordIdOrNull,
  path: text,
  mime_type: textOrNull,
  size: bigOrNull,
  sha256: textOrNull,
  attributes,
})

/** A complete run: the bundle `trace.v1`, spans depth first. */
export const bundleSchema = Type.Object({
  schema: Type.Literal('trace.v1'),
  exported_at: Type.Optional(Type.String({ format: 'date-time' })),
  redacted: Type.Literal(true, { description: 'Secrets were hidden before anything was stored.' }),
  run: Type.Object({ ...summary, attributes }),
  spans: Type.Array(span),
  events: Type.Array(event, { description: 'Of the run itself; those of a span stand in it.' }),
  artifacts: Type.Array(artifact),
})
