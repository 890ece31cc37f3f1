import type { Attributes } from 'guard-gateway/core'
import type { JsonObject } from '#lib/json'
import {
  elementsOf,
  ImportFault,
  type ImportLocation,
  memberLocation,
  nsField,
  recordAt,
  textField,
  traceFileErrors,
} from '#lib/trace-file'
import { guardNames, semconv } from './names.ts'
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

/** A nanosecond field; absent where OTLP's 0 says that it is unknown. */
export const instantOf = (record: JsonObject, key: string, place: ImportLocation): bigint | undefined => {
  const value = record[key]
  return value === undefined || value === null ? undefined : nsField(value, place, key)
}

/** The status of a span. Throws ImportFault. */
export const statusRecord = (record: JsonObject, place: ImportLocation): JsonObject =>
  recordAt(record.status ?? {}, memberLocation(place, 'status'))

/** What the status says in words. Throws ImportFault. */
export const messageOf = (record: JsonObject, place: ImportLocation): string | undefined => {
  const { message } = statusRecord(record, place)
  if (message === undefined || message === null || message === '') return undefined
  return textField(message, memberLocation(place, 'status'), 'message')
}

/** Links to other spans, as an attribute. Throws ImportFault. */
export const linksOf = (record: JsonObject, place: ImportLocation): Attributes => {
  const links = [...elementsOf(record, 'links', place)].map(({ record: link, place: at }) => ({
    trace_id: hexOf(link.traceId),
    span_id: hexOf(link.spanId),
    attributes: fromKeyValues(link, 'attributes', at),
  }))
  return links.length === 0 ? {} : { [semconv.links]: links }
}

/** The trace state, as an attribute. */
export const traceStateOf = ({ traceState }: JsonObject): Attributes =>
  typeof traceState === 'string' && traceState !== '' ? { [semconv.traceState]: traceState } : {}

/** What is said of the scope that made a span, as attributes of the span. */
export const scopeAttributes = (scope: JsonObject): Attributes => ({
  ...(typeof scope.name === 'string' && scope.name !== '' ? { [semconv.scopeName]: scope.name } : {}),
  ...(typeof scope.version === 'string' && scope.version !== '' ? { [semconv.scopeVersion]: scope.version } : {}),
})
