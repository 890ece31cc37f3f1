import type { TSchema } from 'typebox'
import { Type } from '#lib/json'
import { bigInteger, count, orNull, recordId, runSummarySchema, text, textOrNull } from './record-schemas.ts'

const limitOrNull = orNull(Type.Number())

const warnings = Type.Array(
  Type.Object({
    code: text,
    message: text,
    path: Type.Optional(Type.String({ description: 'JSON pointer into the request.' })),
    line: Type.Optional(count),
  }),
  { description: 'What was taken in otherwise than it was sent, or looks odd.' },
)

export const runsPage = Type.Object({
  runs: Type.Array(runSummarySchema),
  next_cursor: textOrNull,
  truncated: Type.Boolean({ description: 'The page ended early; the cursor goes on.' }),
})

export const traceAnswer = Type.Object({
  trace_id: recordId,
  created: Type.Boolean(),
  run: runSummarySchema,
  span_ids: Type.Array(recordId, { description: 'In the order of the request.' }),
  warnings,
  url: Type.String({ description: 'Where the pages show the run.' }),
})

export const spanAnswer = Type.Object({
  trace_id: recordId,
  span_id: recordId,
  created: Type.Boolean(),
  run: runSummarySchema,
  warnings,
})

export const batchAnswer = Type.Object({
  accepted: count,
  events: Type.Array(Type.Object({ index: count, trace_id: recordId, id: recordId })),
  rejected: Type.Array(Type.Object({ index: count, code: text, message: text })),
})

export const rowsAnswer = Type.Object({
  columns: Type.Array(text),
  rows: Type.Array(Type.Array(Type.Unknown()), {
    description:
      'A list of values per span. `tokens` and `cost_micro` of the root are those of the run. `time_known` is false where the gateway saw neither start nor end. `equal`, at the first of equal siblings: how many they are, rows of the first, rows of all, then the end, tokens and cost of all; else null. `input_tokens` are all input, `cached_tokens` those of it that came from a cache. `error` is why a span failed. `also_seen` names who else told of the same tool call. `at_most` is true where the duration ends with the request that held the result.',
  }),
  next: Type.Union([count, Type.Null()], { description: 'The row that the next page begins with.' }),
})

const nanosecondsOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

export const useAnswer = Type.Object({
  trace_id: recordId,
  uses: Type.Array(
    Type.Object({
      kind: Type.Unsafe<string>({ type: 'string', enum: ['model', 'tool', 'command'] }),
      name: textOrNull,
      calls: Type.Integer({ description: 'Each call once, however many spans tell of it.' }),
      errors: count,
      p50_ns: nanosecondsOrNull(
        'Of calls whose duration is known; of tool calls of proxied requests until the next request.',
      ),
      p95_ns: nanosecondsOrNull('The same.'),
      total_ns: Type.Integer({ description: 'All of these durations.' }),
      input_tokens: Type.Integer({ description: 'All input, what a cache gave included.' }),
      cached_input_tokens: Type.Integer({ description: 'Of input_tokens, those read from a cache.' }),
      output_tokens: count,
      total_tokens: count,
      cost_micro: Type.Integer({ description: 'Millionths of the billing currency.' }),
    }),
    { description: 'Models, then tools, then commands; the costliest first, then what was called most.' },
  ),
})

export const pinAnswer = Type.Object({ trace_id: recordId, pinned: Type.Boolean() })

export const editAnswer = Type.Object({ run: runSummarySchema })

const side = orNull(
  Type.Object({
    span_id: recordId,
    status: text,
    duration_ns: Type.Union([bigInteger, Type.Null()], {
      description: 'Null while running and where it is not known.',
    }),
    label: textOrNull,
    error: Type.Union([text, Type.Null()], { description: 'Why it failed, as `529 overloaded_error`.' }),
    tokens: orNull(bigInteger),
    cost_micro: orNull(bigInteger),
  }),
)

export const compareAnswer = Type.Object({
  left: runSummarySchema,
  right: runSummarySchema,
  deltas: Type.Object(
    {
      duration_ns: orNull(bigInteger),
      input_tokens: bigInteger,
      output_tokens: bigInteger,
      total_tokens: bigInteger,
      cost_micro: bigInteger,
      span_count: Type.Integer(),
      event_count: Type.Integer(),
    },
    { description: 'Right minus left.' },
  ),
  spans: Type.Array(
    Type.Object({
      key: Type.String({
        description:
          'name#occurrence, or name[label]#occurrence; in a sequence `+` stands before what only the right has.',
      }),
      name: text,
      occurrence: Type.Integer({ minimum: 1 }),
      presence: Type.Unsafe<string>({ type: 'string', enum: ['both', 'left', 'right'] }),
      left: side,
      right: side,
      status_changed: Type.Boolean(),
      label_changed: Type.Boolean(),
      arguments_changed: Type.Boolean({ description: 'Both have a hash of their arguments, and they differ.' }),
      attribute_changes: Type.Array(Type.Object({ name: text, left: Type.Unknown(), right: Type.Unknown() }), {
        description:
          'The same attributes with their values, null where a side has none; other values than numbers and booleans as text of 200 characters at most.',
      }),
      attributes_changed: Type.Array(text, {
        description: 'Names of attributes that differ, without ids, times and usage; at most 20.',
      }),
      duration_delta_ns: orNull(bigInteger),
      tokens_delta: orNull(bigInteger),
      cost_delta_micro: orNull(bigInteger),
    }),
  ),
  first_difference: Type.Union(
    [
      Type.Object({
        step: Type.Integer({ minimum: 1 }),
        left_span_id: Type.Union([text, Type.Null()], { description: 'Null if only the right run has the step.' }),
        right_span_id: Type.Union([text, Type.Null()], { description: 'Null if only the left run has the step.' }),
        text: Type.String({ description: 'One sentence.' }),
      }),
      Type.Null(),
    ],
    { description: 'Where the runs part; null if both took the same steps.' },
  ),
  events_by_name: Type.Array(Type.Object({ name: text, left: count, right: count, delta: Type.Integer() })),
  status_changed: Type.Boolean(),
  failure_tag_changed: Type.Boolean(),
  summary: Type.Object({
    both: count,
    left_only: count,
    right_only: count,
    status_changed: count,
    label_changed: count,
    arguments_changed: Type.Integer({ minimum: 0, description: 'Spans of both that have other arguments.' }),
  }),
  warnings,
})

export const importAnswer = Type.Object({
  imported: Type.Array(
    Type.Object({
      trace_id: recordId,
      source_trace_id: recordId,
      remapped: Type.Boolean(),
      identical_to: textOrNull,
      spans: count,
      events: count,
      artifacts: count,
      url: textOrNull,
    }),
  ),
  skipped: Type.Array(Type.Object({ source_trace_id: recordId, existing_trace_id: recordId })),
  warnings,
  dry_run: Type.Optional(Type.Literal(true)),
})

export const retentionAnswer = Type.Object({
  settings: Type.Object({
    days: limitOrNull,
    max_runs: limitOrNull,
    max_bytes: limitOrNull,
    audit_days: limitOrNull,
    max_audit_records: limitOrNull,
  }),
  runs: Type.Union([count, Type.Null()], { description: 'Null before the first count.' }),
  bytes: count,
  would_remove: count,
  more: Type.Boolean(),
  audit: Type.Object(
    { would_remove: count, more: Type.Boolean() },
    { description: 'Records of MCP decisions and ended approvals, of runs that are gone.' },
  ),
})

/** A streamed body, by media type. */
export const filesOf = (description: string, schemas: Readonly<Record<string, TSchema>>) => ({
  description,
  content: Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }])),
})
