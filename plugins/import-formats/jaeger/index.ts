import type { Attributes } from 'guard-gateway/core'
import { type ImportSource, importFormat } from 'guard-gateway/lib/export-format'
import { isJsonObject, type JsonObject } from 'guard-gateway/lib/json'
import {
  elementsOf,
  errorAt,
  headOf,
  type ImportLocation,
  type JsonElement,
  jsonElements,
  locationInElement,
  memberLocation,
  recordAt,
} from 'guard-gateway/lib/trace-file'
import {
  type ConvertedSpan,
  hexIdOf,
  nsOfMicros,
  otlpAttributes,
  otlpSpanJson,
  readConvertedFile,
  type SpanParts,
} from '#lib/otlp'

/** Traces as Jaeger's UI and its `/api/traces` give them: `{ "data": [{ "traceID", "spans", "processes" }] }`. */
export const jaeger = importFormat({
  id: 'jaeger',
  title: 'Jaeger',
  module: import.meta.url,
  accepts: (file) => file.members.has('data') && /"(?:traceID|spanID)"\s*:/.test(headOf(file)),
  read: (file) => readConvertedFile(() => jaegerSpans(file)),
})

const lists = { data: { spans: {} } }
const MAX_DEPTH = 64
const SPAN = 4
const TRACE = 2

/** The spans of all traces. Processes come after them in a file, so it is read twice. Throws GuardError with line and pointer. */
function* jaegerSpans(file: ImportSource): Generator<ConvertedSpan> {
  const processes = processesIn(file)
  for (const element of jsonElements(file, lists, MAX_DEPTH, ({ length }) => length === SPAN)) {
    const { path, line } = element
    const converted = located(element, () => spanOf(element, processes.get(Number(path[1])) ?? new Map()))
    yield { ...converted, path, line }
  }
}

const located = <T>(element: JsonElement, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw errorAt(error, (place) => locationInElement(element, place))
  }
}

type Processes = ReadonlyMap<string, JsonObject>

/** Resources by the id of their process, of each trace. */
const processesIn = (file: ImportSource): ReadonlyMap<number, Processes> => {
  const traces = new Map<number, Processes>()
  for (const element of jsonElements(file, lists, MAX_DEPTH, ({ length }) => length !== SPAN)) {
    const { path, value } = element
    located(element, () => {
      const record = recordAt(value, { path })
      // elements were taken out; what is left is checked to be a list
      if (path.length === 0) elementsOf(record, 'data', { path }).next()
      if (path.length !== TRACE) return
      elementsOf(record, 'spans', { path }).next()
      const all = recordAt(record.processes ?? {}, memberLocation({ path }, 'processes'))
      traces.set(Number(path[1]), new Map(Object.keys(all).map((id) => [id, resourceOf(all, id, { path })])))
    })
  }
  return traces
}

const resourceOf = (processes: JsonObject, id: string, trace: ImportLocation): JsonObject => {
  const place = memberLocation(trace, 'processes', id)
  const process = recordAt(processes[id], place)
  return otlpAttributes({ 'service.name': process.serviceName, ...attributesOf(process, 'tags', place) })
}

const NO_RESOURCE: JsonObject = {}

const spanOf = (
  { value, path }: JsonElement,
  processes: Processes,
): Pick<ConvertedSpan, 'resource' | 'scope' | 'span'> => {
  const place = { path }
  const record = recordAt(value, place)
  const { 'otel.scope.name': name, 'otel.scope.version': version, ...attributes } = attributesOf(record, 'tags', place)
  const trace_id = hexIdOf(record, 'traceID', 32, place)
  const start_ns = nsOfMicros(record, 'startTime', place)
  const links = linksOf(record, place)
  const parent = links.find(({ kind, of }) => kind === 'CHILD_OF' && of.trace_id === trace_id)
  const others = links.filter((link) => link !== parent).map(({ of }) => of)
  const events = [...elementsOf(record, 'logs', place)].map((log) => eventOf(log.record, log.place))
  return {
    resource: processes.get(String(record.processID)) ?? resourceIn(record, place),
    scope: { ...(typeof name === 'string' ? { name } : {}), ...(typeof version === 'string' ? { version } : {}) },
    span: otlpSpanJson({
      trace_id,
      span_id: hexIdOf(record, 'spanID', 16, place),
      parent_id: parent?.of.span_id ?? parentIdOf(record, place),
      name: typeof record.operationName === 'string' ? record.operationName : '',
      start_ns,
      end_ns: start_ns + nsOfMicros(record, 'duration', place),
      ...statusOf(attributes),
      attributes,
      ...(events.length === 0 ? {} : { events }),
      ...(others.length === 0 ? {} : { links: others }),
    }),
  }
}

/** Spans in search indexes hold their process. */
const resourceIn = (record: JsonObject, place: ImportLocation): JsonObject =>
  isJsonObject(record.process) ? resourceOf({ process: record.process }, 'process', place) : NO_RESOURCE

const parentIdOf = (record: JsonObject, place: ImportLocation): string | null =>
  record.parentSpanID === undefined || record.parentSpanID === '' || record.parentSpanID === '0'
    ? null
    : hexIdOf(record, 'parentSpanID', 16, place)

const linksOf = (record: JsonObject, place: ImportLocation) =>
  [...elementsOf(record, 'references', place)].map(({ record: reference, place: at }) => ({
    kind: reference.refType,
    of: { trace_id: hexIdOf(reference, 'traceID', 32, at), span_id: hexIdOf(reference, 'spanID', 16, at) },
  }))

const eventOf = (log: JsonObject, place: ImportLocation) => {
  const { event, ...attributes } = attributesOf(log, 'fields', place)
  const name = typeof event === 'string' && event !== '' ? event : 'log'
  return { name, time_ns: nsOfMicros(log, 'timestamp', place), attributes }
}

const INTEGER = /^-?\d{1,15}$/

/** Values of typed tags; the last of equal keys counts. Throws ImportFault. */
const attributesOf = (record: JsonObject, key: string, place: ImportLocation): Attributes => {
  const attributes: Record<string, unknown> = Object.create(null)
  for (const { record: tag } of elementsOf(record, key, place))
    if (typeof tag.key === 'string') attributes[tag.key] = tagValue(tag)
  return attributes
}

/** Numbers come as text from some versions. */
const tagValue = ({ type, value }: JsonObject): unknown => {
  if (typeof value !== 'string') return value
  if (type === 'int64' && INTEGER.test(value)) return Number(value)
  if (type === 'float64' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value)
  return type === 'bool' ? value === 'true' : value
}

const kinds: Readonly<Record<string, number>> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }

/** Kind and status, which tags tell. */
const statusOf = (attributes: Attributes): Pick<SpanParts, 'kind' | 'error'> => {
  const { 'otel.status_code': code, 'otel.status_description': description, error, 'span.kind': kind } = attributes
  const failed = code === 'ERROR' || error === true || error === 'true'
  return {
    kind: kinds[String(kind)] ?? 1,
    ...(failed ? { error: typeof description === 'string' && description !== '' ? description : null } : {}),
  }
}
