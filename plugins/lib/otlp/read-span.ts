import type { Attributes, SpanDraft } from 'guard-gateway/core'
import type { JsonObject } from 'guard-gateway/lib/json'
import {
  elementsOf,
  ImportFault,
  type ImportLocation,
  memberLocation,
  nsField,
  recordAt,
  spanDraft,
  textField,
  traceFileErrors,
} from 'guard-gateway/lib/trace-file'
import { declaredKind, normalised } from './dialects.ts'
import { ESCAPED, guardNames, RUN_ATTRIBUTE, reservedOnRoots, reservedOnSpans, semconv } from './names.ts'
import { fromKeyValues } from './values.ts'

/** A span as OTLP has it; ids are lower-case hex. */
export interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  /** One of our own exports wrote it. */
  readonly ours: boolean
  /** It also carries what our export says of the run. */
  readonly root: boolean
  readonly attributes: Attributes
  readonly record: JsonObject
  readonly place: ImportLocation
}

const hexOf = (value: unknown): string => {
  if (typeof value === 'string') return value.toLowerCase()
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : ''
}

const needHex = (record: JsonObject, key: string, digits: number, place: ImportLocation): string => {
  const hex = hexOf(record[key])
  if (hex.length === digits && /^[0-9a-f]+$/.test(hex) && !/^0+$/.test(hex)) return hex
  throw new ImportFault(
    traceFileErrors.INVALID_ID,
    `"${key}" must be ${digits} hex digits that are not all 0.`,
    memberLocation(place, key),
  )
}

const parentOf = (record: JsonObject, place: ImportLocation): string | null =>
  /^0*$/.test(hexOf(record.parentSpanId)) ? null : needHex(record, 'parentSpanId', 16, place)

/** A member that OTLP spells as a number, in JSON too. */
const needNumber = (record: JsonObject, key: string, place: ImportLocation): void => {
  const value = record[key]
  if (value === undefined || value === null || (typeof value === 'number' && Number.isInteger(value))) return
  throw new ImportFault(
    traceFileErrors.INVALID_IMPORT,
    `"${key}" must be the number of the value: OTLP knows no names of values in JSON.`,
    memberLocation(place, key),
  )
}

/** Reads ids and attributes of an OTLP span. Throws ImportFault. */
export const otlpSpanOf = (record: JsonObject, place: ImportLocation): OtlpSpan => {
  needNumber(record, 'kind', place)
  needNumber(statusRecord(record, place), 'code', memberLocation(place, 'status'))
  const attributes = fromKeyValues(record, 'attributes', place)
  const parentId = parentOf(record, place)
  const ours = typeof attributes[guardNames.spanId] === 'string'
  return {
    traceId: needHex(record, 'traceId', 32, place),
    spanId: needHex(record, 'spanId', 16, place),
    parentId,
    ours,
    root: ours && parentId === null && typeof attributes[guardNames.traceId] === 'string',
    attributes,
    record,
    place,
  }
}

/** The id that the span had before it was exported, else that of OTLP. */
export const nativeSpanId = ({ ours, attributes, spanId }: OtlpSpan): string =>
  ours ? String(attributes[guardNames.spanId]) : spanId

/** Our own record's attributes without what we added, under the names that they had. */
export const unescaped = (
  attributes: Attributes,
  reserved: (name: string) => boolean,
): Readonly<Record<string, unknown>> => {
  const own: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith(ESCAPED)) own[key.slice(ESCAPED.length)] = value
    else if (!reserved(key)) own[key] = value
  }
  return own
}

/** A nanosecond field; absent where OTLP's 0 says that it is unknown. */
export const instantOf = (record: JsonObject, key: string, place: ImportLocation): bigint | undefined => {
  const value = record[key]
  return value === undefined || value === null ? undefined : nsField(value, place, key)
}

const ownSpan = (span: OtlpSpan, parent_id: string | null): JsonObject => {
  const { record, attributes, place, root } = span
  const added = attributes[guardNames.operationAdded] === true
  const reserved = root ? reservedOnRoots : reservedOnSpans
  const start_ns = instantOf(record, 'startTimeUnixNano', place)
  const end_ns = instantOf(record, 'endTimeUnixNano', place)
  const status = attributes[guardNames.status]
  const unended = attributes[guardNames.unended] ?? (status === 'running' && end_ns === start_ns)
  return {
    id: attributes[guardNames.spanId],
    parent_id,
    declared_parent_id: attributes[guardNames.declaredParent],
    name: attributes[guardNames.spanName] ?? record.name,
    kind: attributes[guardNames.spanKind],
    status,
    status_message: attributes[guardNames.statusMessage] ?? messageOf(record, place) ?? null,
    start_ns,
    end_ns: unended ? null : end_ns,
    attributes: unescaped(
      attributes,
      (name) => reserved.has(name) || (root && name.startsWith(RUN_ATTRIBUTE)) || (added && name === semconv.operation),
    ),
  }
}

const statusRecord = (record: JsonObject, place: ImportLocation): JsonObject =>
  recordAt(record.status ?? {}, memberLocation(place, 'status'))

const messageOf = (record: JsonObject, place: ImportLocation): string | undefined => {
  const { message } = statusRecord(record, place)
  if (message === undefined || message === null || message === '') return undefined
  return textField(message, memberLocation(place, 'status'), 'message')
}

const FAILED = 2

const foreignSpan = (span: OtlpSpan, parent_id: string | null, about: Attributes): JsonObject => {
  const { record, place } = span
  const end = instantOf(record, 'endTimeUnixNano', place) ?? 0n
  const ended = statusRecord(record, place).code === FAILED ? 'error' : 'ok'
  return {
    id: span.spanId,
    parent_id,
    name: record.name,
    kind: declaredKind(span.attributes),
    status: end === 0n ? 'running' : ended,
    status_message: messageOf(record, place),
    start_ns: instantOf(record, 'startTimeUnixNano', place) || undefined,
    end_ns: end === 0n ? null : end,
    attributes: {
      ...span.attributes,
      ...normalised(span.attributes),
      ...about,
      ...linksOf(record, place),
      ...traceStateOf(record),
    },
  }
}

const linksOf = (record: JsonObject, place: ImportLocation): Attributes => {
  const links = [...elementsOf(record, 'links', place)].map(({ record: link, place: at }) => ({
    trace_id: hexOf(link.traceId),
    span_id: hexOf(link.spanId),
    attributes: fromKeyValues(link, 'attributes', at),
  }))
  return links.length === 0 ? {} : { [semconv.links]: links }
}

const traceStateOf = ({ traceState }: JsonObject): Attributes =>
  typeof traceState === 'string' && traceState !== '' ? { [semconv.traceState]: traceState } : {}

/** What is said of the scope that made a span, as attributes of the span. */
export const scopeAttributes = (scope: JsonObject): Attributes => ({
  ...(typeof scope.name === 'string' && scope.name !== '' ? { [semconv.scopeName]: scope.name } : {}),
  ...(typeof scope.version === 'string' && scope.version !== '' ? { [semconv.scopeVersion]: scope.version } : {}),
})

/** The trace record of an OTLP span. `about`: attributes of its scope. Throws ImportFault. */
export const spanFromOtlp = (span: OtlpSpan, parent_id: string | null, about: Attributes): SpanDraft =>
  spanDraft(span.ours ? ownSpan(span, parent_id) : foreignSpan(span, parent_id, about), span.place)
