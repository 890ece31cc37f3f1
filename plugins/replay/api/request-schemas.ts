import type { TSchema } from 'typebox'
import { Type } from '#lib/json'
import { type Alignment, alignments } from '../read/compare.ts'
import { filterNames } from './filters.ts'
import { count, failureTagOrNull, recordId, recordIdOrNull, text, textOrNull } from './record-schemas.ts'

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema)
const list = (items: TSchema) => optional(Type.Array(items))
const attributes = optional(Type.Unsafe<object>({ type: 'object', additionalProperties: true }))
const tags = list(Type.String({ minLength: 1, maxLength: 64 }))
const status = optional(Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }))

const NS = 'Nanoseconds since 1970: an integer, or a string of digits where a double could not hold it.'
const nanoseconds = Type.Unsafe<bigint | number | string>({
  anyOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: '^[0-9]{1,19}$' },
  ],
  description: NS,
})
const nanosecondsOrNull = optional(Type.Union([nanoseconds, Type.Null()]))

const eventFields = {
  id: optional(recordId),
  name: Type.String({ minLength: 1 }),
  time_ns: optional(nanoseconds),
  severity: optional(Type.Unsafe<string>({ type: 'string', enum: ['info', 'warn', 'error'] })),
  attributes,
}
const event = Type.Object(eventFields)
const eventOfSpan = Type.Object({ ...eventFields, span_id: optional(recordIdOrNull) })

const spanFields = {
  id: optional(recordId),
  parent_id: optional(recordIdOrNull),
  name: Type.String({ minLength: 1 }),
  kind: optional(Type.String({ description: 'Follows from name and attributes where it is none of the known.' })),
  status,
  status_message: optional(textOrNull),
  start_ns: optional(nanoseconds),
  end_ns: nanosecondsOrNull,
  attributes,
  events: list(event),
  spans: list(Type.Unsafe<object>({ type: 'object', description: 'A span in this one; it takes the same fields.' })),
}
const span = Type.Object(spanFields)

const artifact = Type.Object({
  id: optional(recordId),
  span_id: optional(recordIdOrNull),
  path: Type.String({ minLength: 1 }),
  mime_type: optional(textOrNull),
  size: optional(Type.Union([count, Type.Null()])),
  sha256: optional(Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()])),
  attributes,
})

const ofRun = {
  trace_id: optional(recordId),
  project_id: optional(recordId),
  session_id: optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 512 }), Type.Null()], {
      description: "A session's id, or what its client calls it.",
    }),
  ),
  agent_name: optional(textOrNull),
  task_id: optional(textOrNull),
}

/** A trace; no field is required. */
export const traceBody = Type.Object(
  {
    ...ofRun,
    agent_id: optional(recordIdOrNull),
    name: optional(textOrNull),
    status,
    failure_tag: optional(failureTagOrNull),
    start_ns: optional(nanoseconds),
    end_ns: nanosecondsOrNull,
    attributes,
    tags,
    writer: optional(
      Type.String({
        description: 'The process that writes the run, `host:pid`: where it is gone, what it left open ends.',
      }),
    ),
    spans: list(span),
    events: list(eventOfSpan),
    artifacts: list(artifact),
  },
  { examples: [{ trace_id: 'run-1', name: 'First run', status: 'ok', spans: [{ name: 'tool.call', status: 'ok' }] }] },
)

/** A span, and fields of its run. */
export const spanBody = Type.Object(
  { ...ofRun, ...spanFields },
  { examples: [{ trace_id: 'run-1', name: 'tool.call', attributes: { 'tool.name': 'read_file' } }] },
)

const batchEvent = Type.Object({ ...ofRun, ...eventFields, span_id: optional(recordIdOrNull) })
/** Events, in a list or below a run. */
export const batchBody = Type.Union(
  [
    Type.Object({
      trace_id: optional(recordId),
      project_id: optional(recordId),
      events: Type.Array(batchEvent),
    }),
    Type.Array(batchEvent),
  ],
  { examples: [{ trace_id: 'run-1', events: [{ name: 'file.change', attributes: { path: 'README.md' } }] }] },
)

/** Filters are text; the reader validates them. */
export const runsQuery = Type.Object(Object.fromEntries(filterNames.map((name) => [name, optional(text)])))

export const runParams = Type.Object({ trace_id: text })

export const exportQuery = Type.Object({
  format: optional(Type.String({ description: 'json (default), jsonl, otel, or another format that is registered.' })),
  names: optional(Type.String({ description: 'semconv: span names of the semantic conventions (otel).' })),
})

export const rowsQuery = Type.Object({
  after: optional(Type.String({ pattern: '^\\d{1,9}$', description: 'The row that the page begins with.' })),
  limit: optional(Type.String({ pattern: '^\\d{1,9}$', description: 'Rows of a page, at most 2,000.' })),
  from: optional(
    Type.String({
      pattern: '^\\d{1,19}$',
      description:
        'With `to`, nanoseconds from the start of the run: only spans that touch this range, and those above them.',
    }),
  ),
  to: optional(Type.String({ pattern: '^\\d{1,19}$', description: 'The end of that range.' })),
})

/** An absent body pins. */
export const pinBody = Type.Union(
  [Type.Null(), Type.Object({ pinned: optional(Type.Boolean()) }, { additionalProperties: false })],
  { examples: [{ pinned: true }] },
)

export const editBody = Type.Object(
  {
    name: optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()])),
    tags,
    failure_tag: optional(failureTagOrNull),
    pinned: optional(Type.Boolean()),
  },
  { additionalProperties: false, examples: [{ name: 'Checked', tags: ['baseline'] }] },
)

const align = optional(
  Type.Unsafe<Alignment>({
    type: 'string',
    enum: [...alignments],
    description:
      'name (default): the n-th span of a name with the n-th. label: of a name and label. sequence: as two sequences, in which an extra step shifts no other.',
  }),
)
export const compareBody = Type.Union(
  [
    Type.Object({ left: text, right: text, align }),
    Type.Object({ trace_ids: Type.Array(text, { minItems: 2, maxItems: 2 }), align }),
  ],
  { examples: [{ left: '{trace_id}', right: '{trace_id}' }] },
)

export const importQuery = Type.Object({
  on_conflict: optional(Type.Unsafe<string>({ type: 'string', enum: ['remap', 'skip', 'fail'] })),
  project_id: optional(recordId),
  dry_run: optional(Type.Unsafe<'true' | 'false'>({ type: 'string', enum: ['true', 'false'] })),
})

export const streamQuery = Type.Object({
  kind: optional(Type.Unsafe<'runs' | 'events'>({ type: 'string', enum: ['runs', 'events'] })),
})
