import type { Attributes } from 'guard-gateway/core'
import { type ImportSource, importFormat } from 'guard-gateway/lib/export-format'
import { isJsonObject, type JsonObject, pointerOf } from 'guard-gateway/lib/json'
import {
  arrayElements,
  elementsOf,
  errorAt,
  headOf,
  ImportFault,
  type ImportLocation,
  jsonElements,
  jsonTexts,
  memberLocation,
  parseImport,
  recordAt,
  traceFileErrors,
} from 'guard-gateway/lib/trace-file'
import { sha256 } from '#lib/ids'
import { type ConvertedSpan, otlpSpanJson, readConvertedFile } from '#lib/otlp'

/** Observations of Langfuse: exports of its interface and of blob storage in JSON or JSON lines, and answers of its API. */
export const langfuse = importFormat({
  id: 'langfuse',
  title: 'Langfuse',
  module: import.meta.url,
  accepts: (file) => {
    const head = headOf(file)
    const isObservation = /"(?:traceId|trace_id)"\s*:/.test(head) && TYPE.test(head)
    return isObservation || (file.members.has('observations') && /"(?:id|trace)"\s*:/.test(head))
  },
  read: (file) => readConvertedFile(() => langfuseSpans(file)),
})

const TYPE = /"type"\s*:\s*"(?:SPAN|GENERATION|EVENT|AGENT|TOOL|CHAIN|RETRIEVER|EVALUATOR|EMBEDDING|GUARDRAIL)"/

const RESOURCE: JsonObject = {}
/** As the SDK calls its scope, so that the reader of OTLP takes the names below for those of Langfuse. */
const SCOPE: JsonObject = { name: 'langfuse-sdk' }

/** The observations of a file as spans. Throws GuardError with line and pointer. */
function* langfuseSpans(file: ImportSource): Generator<ConvertedSpan> {
  const rows = observationRows(file)
  for (let line = 1; ; ) {
    try {
      const next = rows.next()
      if (next.done === true) return
      line = next.value.line
      yield { resource: RESOURCE, scope: SCOPE, span: spanOf(next.value), line, path: next.value.place.path }
    } catch (error) {
      throw errorAt(error, ({ path }) => ({ line, path: pointerOf(path) }))
    }
  }
}

/** A member, whose name is in words joined by capitals in the API and by underscores in exports. */
const member = (record: JsonObject, name: string): unknown =>
  record[name] ?? record[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] ?? undefined

const text = (record: JsonObject, name: string): string | undefined => {
  const value = member(record, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

const spanOf = ({ record, place, trace }: ObservationRow): JsonObject => {
  const id = needText(record, 'id', place)
  const trace_id = text(record, 'traceId') ?? text(trace, 'id')
  if (trace_id === undefined) throw new ImportFault(traceFileErrors.INVALID_IMPORT, noTrace(record), place)
  const start_ns = timeOf(record, 'startTime', place)
  const end_ns = timeOf(record, 'endTime', place)
  const parent = text(record, 'parentObservationId')
  return otlpSpanJson({
    trace_id: hexOf(trace_id, 32),
    span_id: hexOf(id, 16),
    // the trace itself is no observation
    parent_id: parent === undefined || parent === trace_id ? null : hexOf(parent, 16),
    name: text(record, 'name') ?? 'observation',
    ...(start_ns === undefined ? {} : { start_ns }),
    // an event has no end
    end_ns: end_ns ?? start_ns ?? 0n,
    ...(text(record, 'level') === 'ERROR' ? { error: text(record, 'statusMessage') ?? null } : {}),
    attributes: attributesOf(record, trace),
  })
}

const attributesOf = (record: JsonObject, trace: JsonObject): Attributes => ({
  'langfuse.observation.type': text(record, 'type')?.toLowerCase(),
  'langfuse.observation.model.name': text(record, 'model') ?? text(record, 'providedModelName'),
  'langfuse.observation.level': text(record, 'level'),
  'langfuse.observation.status_message': text(record, 'statusMessage'),
  'langfuse.observation.usage_details': countsOf(record, 'usageDetails') ?? countsOf(record, 'usage'),
  'langfuse.observation.cost_details': costsOf(record),
  'langfuse.session.id': text(record, 'sessionId') ?? text(trace, 'sessionId'),
  'langfuse.trace.name': text(record, 'traceName') ?? text(trace, 'name'),
  'langfuse.trace.tags': tagsOf(record) ?? tagsOf(trace),
})

const noTrace = (record: JsonObject): string =>
  Object.hasOwn(record, 'timestamp') || Object.hasOwn(record, 'htmlPath')
    ? 'This is a trace without its observations; export the observations, or one trace with them.'
    : '"traceId" is missing.'

const needText = (record: JsonObject, name: string, place: ImportLocation): string => {
  const found = text(record, name)
  if (found !== undefined) return found
  throw new ImportFault(
    traceFileErrors.INVALID_IMPORT,
    `"${name}" must be a string that is not empty.`,
    memberLocation(place, name),
  )
}

/** The id itself where it is one of OpenTelemetry, else a hash of it. */
const hexOf = (id: string, digits: number): string => {
  const hex = id.replaceAll('-', '').toLowerCase()
  const isHex = hex.length === digits && /^[0-9a-f]+$/.test(hex) && !/^0+$/.test(hex)
  return isHex ? hex : sha256(`langfuse:${id}`).slice(0, digits)
}

const NS_PER_MS = 1_000_000n
const MAX_MS = 253_402_300_799_999
/** 2024-05-29 13:46:19.963000 of exports is in UTC, 2024-05-29T13:46:19.963Z of the API says so. */
const TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)?$/

const timeOf = (record: JsonObject, name: string, place: ImportLocation): bigint | undefined => {
  const value = member(record, name)
  if (value === undefined || value === '') return undefined
  const [, day, time, fraction = '', zone = 'Z'] = TIME.exec(String(value)) ?? []
  const ms = Date.parse(`${day}T${time}${zone}`)
  if (ms >= 0 && ms <= MAX_MS) return BigInt(ms) * NS_PER_MS + BigInt(fraction.padEnd(9, '0'))
  throw new ImportFault(
    traceFileErrors.INVALID_TIME,
    `"${name}" must be a time such as 2026-01-31T12:00:00.000Z.`,
    memberLocation(place, name),
  )
}

/** Numbers by name; exports may hold them as JSON text. */
const countsOf = (record: JsonObject, name: string): JsonObject | undefined => {
  const value = member(record, name)
  const counts = typeof value === 'string' ? parsed(value) : value
  if (!isJsonObject(counts)) return undefined
  const numbers = Object.entries(counts).filter(([, count]) => typeof count === 'number')
  return numbers.length === 0 ? undefined : Object.fromEntries(numbers)
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const costsOf = (record: JsonObject): JsonObject | undefined => {
  const total = member(record, 'totalCost') ?? member(record, 'calculatedTotalCost')
  return countsOf(record, 'costDetails') ?? (typeof total === 'number' && total > 0 ? { total } : undefined)
}

const tagsOf = (record: JsonObject): readonly string[] | undefined => {
  const { tags } = record
  return Array.isArray(tags) && tags.length > 0 && tags.every((tag) => typeof tag === 'string') ? tags : undefined
}

/** An observation and where it is; `trace`: what the file says of its trace beside it. */
interface ObservationRow {
  readonly record: JsonObject
  readonly place: ImportLocation
  readonly line: number
  readonly trace: JsonObject
}

const MAX_DEPTH = 128
const NO_TRACE: JsonObject = {}

/** The observations of a file: of a list, of one trace, of an answer of the API, or one a line. */
function* observationRows(file: ImportSource): Generator<ObservationRow> {
  if (/^\s*\[/.test(headOf(file))) {
    for (const { value, path, line } of arrayElements(file, MAX_DEPTH)) yield* rowsIn(value, { path }, line)
  } else if (file.members.has('observations')) yield* ofTrace(file)
  else if (file.members.has('data')) {
    for (const { value, path, line } of jsonElements(file, { data: {} }, MAX_DEPTH, ({ length }) => length === 2))
      yield* rowsIn(value, { path }, line)
  } else
    for (const { text, line } of jsonTexts(file)) yield* rowsIn(parseImport(text, MAX_DEPTH, line), { path: [] }, line)
}

/** An observation, or those of a trace. */
function* rowsIn(value: unknown, place: ImportLocation, line: number): Generator<ObservationRow> {
  const record = recordAt(value, place)
  if (!Array.isArray(record.observations)) yield { record, place, line, trace: NO_TRACE }
  // lists of traces name their observations by id alone
  else if (record.observations.every((one) => typeof one !== 'string'))
    for (const one of elementsOf(record, 'observations', place)) yield { ...one, line, trace: record }
}

/** The observations of one trace; what is said of it may come before or after them, so the file is read twice. */
function* ofTrace(file: ImportSource): Generator<ObservationRow> {
  const lists = { observations: {} }
  let trace = NO_TRACE
  for (const { value } of jsonElements(file, lists, MAX_DEPTH, ({ length }) => length === 0)) {
    const whole = recordAt(value, { path: [] })
    elementsOf(whole, 'observations', { path: [] }).next()
    trace = whole.trace === undefined ? whole : recordAt(whole.trace, { path: ['trace'] })
  }
  for (const { value, path, line } of jsonElements(file, lists, MAX_DEPTH, ({ length }) => length === 2))
    yield { record: recordAt(value, { path }), place: { path }, line, trace }
}
