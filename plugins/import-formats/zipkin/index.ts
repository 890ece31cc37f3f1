import type { Attributes } from 'guard-gateway/core'
import { type ImportSource, importFormat } from 'guard-gateway/lib/export-format'
import { isJsonObject, type JsonObject, jsonObjectOf } from 'guard-gateway/lib/json'
import {
  arrayElements,
  elementsOf,
  errorAt,
  headOf,
  ImportFault,
  type ImportLocation,
  type JsonElement,
  locationInElement,
  memberLocation,
  recordAt,
  traceFileErrors,
} from 'guard-gateway/lib/trace-file'
import { sha256 } from '#lib/ids'
import { type ConvertedSpan, hexIdOf, nsOfMicros, otlpAttributes, otlpSpanJson, readConvertedFile } from '#lib/otlp'

/** Spans in Zipkin's JSON of version 2: a list of spans, or a list of such lists. */
export const zipkin = importFormat({
  id: 'zipkin',
  title: 'Zipkin',
  module: import.meta.url,
  accepts: (file) => {
    const head = headOf(file)
    return /^\s*\[\s*\[?\s*\{/.test(head) && /"traceId"\s*:/.test(head) && !/"observations"|"traceID"/.test(head)
  },
  read: (file) => readConvertedFile(() => zipkinSpans(file)),
})

const MAX_DEPTH = 16

/** The spans of all traces. Throws GuardError with line and pointer. */
function* zipkinSpans(file: ImportSource): Generator<ConvertedSpan> {
  const resources = new Map<string, JsonObject>()
  for (const element of arrayElements(file, MAX_DEPTH)) {
    try {
      for (const { value, path } of recordsIn(element))
        yield { ...spanOf(recordAt(value, { path }), { path }, resources), line: element.line, path }
    } catch (error) {
      throw errorAt(error, (place) => locationInElement(element, place))
    }
  }
}

/** A span, or the spans of a trace. */
const recordsIn = ({ value, path }: JsonElement): readonly Pick<JsonElement, 'value' | 'path'>[] =>
  Array.isArray(value) ? value.map((one, at) => ({ value: one, path: [...path, at] })) : [{ value, path }]

const kinds: Readonly<Record<string, number>> = { SERVER: 2, CLIENT: 3, PRODUCER: 4, CONSUMER: 5 }

const spanOf = (
  record: JsonObject,
  place: ImportLocation,
  resources: Map<string, JsonObject>,
): Pick<ConvertedSpan, 'resource' | 'scope' | 'span'> => {
  const id = hexIdOf(record, 'id', 16, place)
  const parent =
    record.parentId === undefined || record.parentId === null ? null : hexIdOf(record, 'parentId', 16, place)
  // client and server may share a span; the server's part is then below the client's
  const isShared = record.shared === true
  const start_ns = nsOfMicros(record, 'timestamp', place)
  const { 'otel.scope.name': name, 'otel.scope.version': version, ...attributes } = tagsOf(record, place)
  const service = jsonObjectOf(record.localEndpoint).serviceName
  const events = [...elementsOf(record, 'annotations', place)].map(({ record: note, place: at }) => ({
    name: typeof note.value === 'string' && note.value !== '' ? note.value : 'annotation',
    time_ns: nsOfMicros(note, 'timestamp', at),
    attributes: {},
  }))
  return {
    resource: resourceOf(typeof service === 'string' ? service : '', resources),
    scope: { ...(typeof name === 'string' ? { name } : {}), ...(typeof version === 'string' ? { version } : {}) },
    span: otlpSpanJson({
      trace_id: hexIdOf(record, 'traceId', 32, place),
      span_id: isShared ? sha256(`${id} server`).slice(0, 16) : id,
      parent_id: isShared ? id : parent,
      name: typeof record.name === 'string' && record.name !== '' ? record.name : 'span',
      kind: kinds[String(record.kind)] ?? 1,
      start_ns,
      end_ns: start_ns + nsOfMicros(record, 'duration', place),
      ...failureIn(attributes),
      attributes,
      ...(events.length === 0 ? {} : { events }),
    }),
  }
}

const resourceOf = (service: string, resources: Map<string, JsonObject>): JsonObject => {
  const known = resources.get(service) ?? otlpAttributes(service === '' ? {} : { 'service.name': service })
  resources.set(service, known)
  return known
}

/** Tags are text; counts and amounts become numbers again. */
const tagsOf = (record: JsonObject, place: ImportLocation): Attributes => {
  const tags = record.tags ?? {}
  if (!isJsonObject(tags))
    throw new ImportFault(traceFileErrors.INVALID_IMPORT, '"tags" must be an object.', memberLocation(place, 'tags'))
  const attributes: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(tags)) attributes[key] = numberIn(key, value) ?? value
  return attributes
}

const COUNTS = /usage|token|cost|status_code|exit_code/i
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/

const numberIn = (key: string, value: unknown): number | undefined =>
  typeof value === 'string' && COUNTS.test(key) && NUMBER.test(value) ? Number(value) : undefined

const failureIn = ({ error, 'otel.status_code': code, 'otel.status_description': description }: Attributes) => {
  if (code !== 'ERROR' && (error === undefined || error === 'false')) return {}
  const reason = typeof description === 'string' && description !== '' ? description : error
  return { error: typeof reason === 'string' && reason !== '' && reason !== 'true' ? reason : null }
}
