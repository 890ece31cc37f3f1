import fc from 'fast-check'
import type { Attributes } from 'guard-gateway/core'
import { readJson, writeJson } from '#lib/json'
import {
  type Artifact,
  buildSpanTree,
  type Records,
  type Run,
  type Trace,
  type TraceEvent,
  type TraceSpan,
} from '#lib/trace'
import { character } from './character.ts'

/** A moment that a double cannot hold; nanoseconds. */
export const START = 1_782_000_000_123_456_789n

/** A run that went well; `over` says what is special about it. */
export const aRun = (over: Partial<Run> = {}): Run => ({
  trace_id: 'trace-1',
  project_id: 'default',
  session_id: null,
  agent_id: null,
  task_id: null,
  agent_name: null,
  name: null,
  status: 'ok',
  failure_tag: null,
  failure_tag_source: null,
  failure_evidence: null,
  start_ns: START,
  end_ns: START + 1_000n,
  duration_ns: 1_000n,
  input_tokens: 0n,
  cached_input_tokens: 0n,
  output_tokens: 0n,
  total_tokens: 0n,
  cost_micro: 0n,
  span_count: 1,
  event_count: 0,
  artifact_count: 0,
  pinned: false,
  tags: [],
  origin: 'api',
  source_trace_id: null,
  recorded_ns: START,
  attributes: {},
  ...over,
})

export const aSpan = (over: Partial<TraceSpan> = {}): TraceSpan => ({
  id: 'root',
  parent_id: null,
  name: 'agent.run',
  kind: 'agent',
  label: null,
  status: 'ok',
  status_message: null,
  start_ns: START,
  end_ns: START + 1_000n,
  owner: 'client',
  model: null,
  input_tokens: null,
  output_tokens: null,
  cost_micro: null,
  attributes: {},
  ...over,
})

export const anEvent = (over: Partial<TraceEvent> = {}): TraceEvent => ({
  id: 'evt_1',
  span_id: null,
  name: 'file.change',
  time_ns: START + 5n,
  severity: 'info',
  owner: 'client',
  request_id: null,
  attributes: {},
  ...over,
})

export const anArtifact = (over: Partial<Artifact> = {}): Artifact => ({
  id: 'art_1',
  span_id: null,
  path: 'out/report.md',
  mime_type: 'text/markdown',
  size: 12n,
  sha256: 'ab'.repeat(32),
  attributes: {},
  ...over,
})

/** A trace with a root span and the records given. */
export const aTrace = (records: Partial<Records> = {}, run: Partial<Run> = {}): Trace => {
  const { spans = [], events = [], artifacts = [] } = records
  return buildSpanTree(aRun(run), 'root', { spans: [aSpan(), ...spans], events, artifacts })
}

const text = fc.oneof(
  fc.string({ unit: character, maxLength: 12 }),
  fc.constantFrom('\ud800', 'a\udfff', '\u2028\u2029', '\0', '"\\\n\r\t', '</script>', '\uFEFF', 'agent.run', ''),
)
const name = text.filter((value) => value !== '')

const keys = fc.constantFrom(
  '__proto__',
  'constructor',
  'guard.trace.id',
  'guard.span.id',
  'guard.span.name',
  'guard.status',
  'guard.event.id',
  'guard.artifact.id',
  'guard.attr.x',
  'guard.run.attr.x',
  'guard.operation_added',
  'gen_ai.operation.name',
  'gen_ai.agent.name',
  'input.value',
  'session.id',
  'service.name',
  'resource.service.name',
  'path',
)

const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(2n ** 53n, 2n ** 63n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 63n) - 1n, 2n ** 70n + 1n),
)

const nest = (levels: number): unknown =>
  levels === 0 ? 'deep' : levels % 2 ? [nest(levels - 1)] : { '': nest(levels - 1) }

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.constant(nest(31)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(keys, text), tie('value'), { maxKeys: 3 }),
  ),
}))

/** Attributes as storage returns them: what JSON of exact integers holds, whatever the names. */
export const attributes: fc.Arbitrary<Attributes> = fc
  .dictionary(fc.oneof(keys, name), value, { maxKeys: 5 })
  .map((given) => readJson(writeJson(given)) as Attributes)

const id = fc.string({ unit: fc.constantFrom(...'abcABC019._:@/+=-'), minLength: 1, maxLength: 6 })
const hexId = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 16, maxLength: 16 })
const time = fc.bigInt({ min: 0n, max: 9_223_372_036_854_775_000n })
const orNull = <T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(some, { nil: null })

const span = fc
  .record({
    id: fc.oneof(id, hexId),
    name,
    kind: fc.constantFrom('agent', 'model', 'tool', 'command', 'policy', 'retrieval', 'other'),
    status: fc.constantFrom('ok', 'error', 'running', 'timeout', 'blocked', 'cancelled', 'odd_one'),
    status_message: orNull(text),
    start_ns: time,
    lasts: orNull(fc.bigInt({ min: 0n, max: 800n })),
    parent: fc.nat(9),
    owner: fc.constantFrom('gateway', 'mcp', 'client'),
    label: orNull(text),
    attributes,
  })
  .map(({ lasts, parent, ...of }) => ({
    parent,
    span: aSpan({ ...of, end_ns: lasts === null ? null : of.start_ns + lasts } as Partial<TraceSpan>),
  }))

const event = fc.record({
  id,
  name: fc.oneof(name, fc.constant('guard.artifact')),
  time_ns: time,
  severity: fc.constantFrom('info', 'warn', 'error'),
  request_id: orNull(id),
  attributes,
  span: fc.nat(9),
})

const artifact = fc.record({
  id,
  path: name,
  mime_type: orNull(text),
  size: orNull(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })),
  sha256: orNull(fc.constant('0f'.repeat(32))),
  attributes,
  span: fc.nat(9),
})

const run = fc.record({
  trace_id: fc.oneof(id, hexId),
  project_id: id,
  session_id: orNull(id),
  agent_id: orNull(id),
  task_id: orNull(text),
  agent_name: orNull(text),
  name: orNull(text),
  status: fc.constantFrom('ok', 'error', 'running', 'odd_one'),
  tag: fc.constantFrom(['loop', 'explicit'], ['timeout', 'derived'], [null, null]),
  tags: fc.uniqueArray(name, { maxLength: 3 }),
  attributes,
})

/** A span parent or owner by number: a span there is, one there is not, or none. */
const pick = (ids: readonly string[], at: number): string | null => ids[at] ?? (at === 9 ? 'never-seen' : null)

/** Whole runs with hostile names, values, parents and circles. */
export const traces: fc.Arbitrary<Trace> = fc
  .record({
    run,
    root: span,
    spans: fc.uniqueArray(span, { selector: (one) => one.span.id, maxLength: 5 }),
    events: fc.uniqueArray(event, { selector: (one) => one.id, maxLength: 4 }),
    artifacts: fc.uniqueArray(artifact, { selector: (one) => one.id, maxLength: 3 }),
  })
  .map(({ run: { tag, ...about }, root, spans, events, artifacts }) => {
    const top = { ...root.span, id: 'the-root', parent_id: null, name: 'agent.run' }
    const ids = [top.id, ...spans.map((one) => one.span.id)]
    const { start_ns, end_ns } = top
    const duration_ns = end_ns === null ? null : end_ns - start_ns
    const [failure_tag, failure_tag_source] = tag as [Run['failure_tag'], Run['failure_tag_source']]
    return buildSpanTree(aRun({ ...about, failure_tag, failure_tag_source, start_ns, end_ns, duration_ns }), top.id, {
      spans: [top, ...spans.map((one) => ({ ...one.span, parent_id: pick(ids, one.parent) }))],
      events: events.map(({ span: at, ...one }) =>
        anEvent({ ...one, span_id: ids[at] ?? null } as Partial<TraceEvent>),
      ),
      artifacts: artifacts.map(({ span: at, ...one }) => anArtifact({ ...one, span_id: pick(ids, at) })),
    })
  })
