import type { Attributes, SpanKind } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import type { Artifact, Run, TraceEvent, TreeNode } from '#lib/trace'
import {
  ARTIFACT_ATTRIBUTE,
  ESCAPED,
  guardNames,
  RESOURCE,
  RUN_ATTRIBUTE,
  reservedOnEvents,
  reservedOnRoots,
  reservedOnSpans,
  semconv,
} from './names.ts'
import { type KeyValue, toAnyValue } from './values.ts'

/** A span with its parent; how deep it lies need not be known. */
type PlacedSpan = Omit<TreeNode, 'depth'>

const isHexId = (id: string, digits: number): boolean =>
  id.length === digits && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id)

/** A valid OTLP trace id: the id itself if it is one, else 32 digits of its hash. */
const otlpTraceId = (traceId: string): string =>
  isHexId(traceId, 32) ? traceId : sha256(`guard.trace:${traceId}`).slice(0, 32)

/** A valid OTLP span id: the id itself if it is one, else 16 digits of its hash within the trace. */
const otlpSpanId = (traceId: string, spanId: string): string =>
  isHexId(spanId, 16) ? spanId : sha256(`guard.span:${traceId}\0${spanId}`).slice(0, 16)

const pair = (key: string, value: unknown): KeyValue => ({ key, value: toAnyValue(value) })

/** Pairs for what there is. */
const pairs = (values: Readonly<Record<string, unknown>>): KeyValue[] =>
  Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => pair(key, value))

/** Own attributes; a name that means something of ours there, or would look escaped, is escaped. */
const ownPairs = (attributes: Attributes, reserved: ReadonlySet<string>, prefix = ''): KeyValue[] =>
  Object.entries(attributes).map(([key, value]) => {
    const clashes = reserved.has(key) || key.startsWith(ESCAPED) || (prefix !== '' && key.startsWith(prefix))
    return pair(clashes ? ESCAPED + key : key, value)
  })

const prefixed = (attributes: Attributes, prefix: string): KeyValue[] =>
  Object.entries(attributes).map(([key, value]) => pair(prefix + key, value))

/** The OTLP resource of a run: who made it and where. */
export const otlpResource = (run: Run): { readonly attributes: readonly KeyValue[] } => {
  const known: KeyValue[] = pairs({
    [semconv.service]: run.agent_name ?? 'guard-gateway',
    [guardNames.project]: run.project_id,
  })
  const taken = new Set<string>([semconv.service, guardNames.project])
  const own = Object.entries(run.attributes)
    .filter(([key]) => key.startsWith(RESOURCE) && !taken.has(key.slice(RESOURCE.length)))
    .map(([key, value]) => pair(key.slice(RESOURCE.length), value))
  return { attributes: [...known, ...own] }
}

const operations: Partial<Record<SpanKind, string>> = {
  agent: 'invoke_agent',
  model: 'chat',
  tool: 'execute_tool',
  retrieval: 'retrieval',
}

/** Our own name, or the one that the GenAI conventions give such a span: the operation and what it is done with. */
const nameOf = (span: PlacedSpan, run: Run, names: 'native' | 'semconv'): string => {
  const operation = operations[span.kind]
  if (names === 'native' || operation === undefined) return span.name
  const { model, attributes } = span
  const objects: Partial<Record<SpanKind, unknown>> = {
    agent: attributes[semconv.agentName] ?? run.agent_name,
    model: attributes[semconv.model] ?? model,
    tool: attributes[semconv.tool] ?? span.label,
  }
  const object = objects[span.kind]
  return typeof object === 'string' && object !== '' ? `${operation} ${object}` : operation
}

const failed = new Set(['error', 'timeout', 'blocked', 'cancelled'])

/** OTLP takes a message with status 2 only, and reads an empty one as none. */
const hasMessage = ({ status, status_message }: PlacedSpan): boolean => failed.has(status) && status_message !== ''

const statusOf = (span: PlacedSpan): object => {
  if (span.status === 'ok') return { code: 1 }
  if (!failed.has(span.status)) return {}
  return span.status_message !== null && hasMessage(span) ? { code: 2, message: span.status_message } : { code: 2 }
}

const CLIENT = 3
const INTERNAL = 1

const kindOf = ({ kind, owner, attributes }: PlacedSpan): number =>
  kind === 'model' || (kind === 'tool' && (owner === 'mcp' || Object.hasOwn(attributes, semconv.mcpMethod)))
    ? CLIENT
    : INTERNAL

const runPairs = (run: Run): KeyValue[] => [
  ...pairs({
    [guardNames.traceId]: run.trace_id,
    [guardNames.runName]: run.name,
    [guardNames.runStatus]: run.status,
    [guardNames.failureTag]: run.failure_tag,
    [guardNames.failureTagSource]: run.failure_tag_source,
    [guardNames.task]: run.task_id,
    [guardNames.tags]: run.tags,
    [guardNames.origin]: run.origin,
    [guardNames.cost]: run.cost_micro,
    [semconv.session]: run.session_id,
    [semconv.conversation]: run.session_id,
    [semconv.agentId]: run.agent_id,
    [semconv.agentName]: run.agent_name,
  }),
  ...prefixed(run.attributes, RUN_ATTRIBUTE),
]

/** Whether a span has no end; null where that is what its status and times let one expect. */
const unendedOf = ({ status, start_ns, end_ns }: PlacedSpan): boolean | null => {
  const unended = end_ns === null
  const expected = status === 'running' && (unended || end_ns === start_ns)
  return unended === expected ? null : unended
}

const attributesOf = (span: PlacedSpan, run: Run, name: string): KeyValue[] => {
  const operation = Object.hasOwn(span.attributes, semconv.operation) ? undefined : operations[span.kind]
  const isRoot = span.parent_id === null
  return [
    ...pairs({
      [guardNames.spanId]: span.id,
      [guardNames.spanKind]: span.kind,
      [guardNames.status]: span.status,
      [guardNames.spanName]: name === span.name ? null : span.name,
      [guardNames.statusMessage]: hasMessage(span) ? null : span.status_message,
      [guardNames.declaredParent]: span.declared_parent_id,
      [guardNames.unended]: unendedOf(span),
      [semconv.operation]: operation,
      [guardNames.operationAdded]: operation === undefined ? null : true,
    }),
    ...(isRoot ? runPairs(run) : []),
    ...(isRoot
      ? ownPairs(span.attributes, reservedOnRoots, RUN_ATTRIBUTE)
      : ownPairs(span.attributes, reservedOnSpans)),
  ]
}

/** A span in OTLP/JSON, without its events. One without an end ends as it starts; `guard.status` says that it runs, else `guard.span.unended` that it has none. */
export const otlpSpan = (span: PlacedSpan, run: Run, names: 'native' | 'semconv' = 'native'): object => {
  const name = nameOf(span, run, names)
  return {
    traceId: otlpTraceId(run.trace_id),
    spanId: otlpSpanId(run.trace_id, span.id),
    ...(span.parent_id === null ? {} : { parentSpanId: otlpSpanId(run.trace_id, span.parent_id) }),
    name,
    kind: kindOf(span),
    startTimeUnixNano: String(span.start_ns),
    endTimeUnixNano: String(span.end_ns ?? span.start_ns),
    status: statusOf(span),
    attributes: attributesOf(span, run, name),
  }
}

/** An event in OTLP/JSON; `level: run` for one that belongs to no span and therefore is on the root. */
export const otlpEvent = (event: TraceEvent, level: 'span' | 'run'): object => ({
  timeUnixNano: String(event.time_ns),
  name: event.name,
  attributes: [
    ...pairs({
      [guardNames.eventId]: event.id,
      [guardNames.eventLevel]: level === 'run' ? 'run' : null,
      [guardNames.severity]: event.severity === 'info' ? null : event.severity,
      [guardNames.requestId]: event.request_id,
    }),
    ...ownPairs(event.attributes, reservedOnEvents),
  ],
})

/** Artifact metadata as an event of a span, at the instant that span started; `level: run` for one that belongs to no span of the run and therefore is on the root. */
export const otlpArtifact = (artifact: Artifact, span: PlacedSpan, level: 'span' | 'run'): object => ({
  timeUnixNano: String(span.start_ns),
  name: guardNames.artifact,
  attributes: [
    ...pairs({
      [guardNames.artifactId]: artifact.id,
      [guardNames.eventLevel]: level === 'run' ? 'run' : null,
      [guardNames.artifactSpan]: level === 'run' ? artifact.span_id : null,
      path: artifact.path,
      mime_type: artifact.mime_type,
      size: artifact.size,
      sha256: artifact.sha256,
    }),
    ...prefixed(artifact.attributes, ARTIFACT_ATTRIBUTE),
  ],
})
