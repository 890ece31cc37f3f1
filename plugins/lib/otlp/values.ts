import type { Attributes } from 'guard-gateway/core'
import { isJsonObject, type JsonObject } from '#lib/json'
import {
  elementsOf,
  ImportFault,
  type ImportLocation,
  memberLocation,
  recordAt,
  traceFileErrors,
} from '#lib/trace-file'

/** An OTLP AnyValue; the empty one is null. */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number | bigint }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }
  | { readonly kvlistValue: { readonly values: readonly KeyValue[] } }
  | Readonly<Record<string, never>>

export interface KeyValue {
  readonly key: string
  readonly value: AnyValue
}

const MIN_INT64 = -9_223_372_036_854_775_808n
const MAX_INT64 = 9_223_372_036_854_775_807n
const isInt64 = (value: bigint): boolean => value >= MIN_INT64 && value <= MAX_INT64

const bigintValue = (value: bigint): AnyValue => (isInt64(value) ? { intValue: String(value) } : { doubleValue: value })

const numberValue = (value: number): AnyValue => {
  if (!Number.isFinite(value)) return { stringValue: String(value) }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** A JSON value as OTLP has it: 64-bit integers as digits, other numbers as doubles, never a non-finite one. */
export const toAnyValue = (value: unknown): AnyValue => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'bigint') return bigintValue(value)
  if (typeof value === 'number') return numberValue(value)
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAnyValue) } }
  return isJsonObject(value) ? { kvlistValue: { values: Object.entries(value).map(toKeyValue) } } : {}
}

const toKeyValue = ([key, value]: readonly [string, unknown]): KeyValue => ({ key, value: toAnyValue(value) })

const wrong = (place: ImportLocation, expected: string): ImportFault =>
  new ImportFault(traceFileErrors.INVALID_IMPORT, `There must be ${expected} here.`, place)

type ReadValue = (value: unknown, place: ImportLocation) => unknown

const readString: ReadValue = (value, place) => {
  if (typeof value === 'string') return value
  throw wrong(place, 'a string')
}

const readBoolean: ReadValue = (value, place) => {
  if (typeof value === 'boolean') return value
  throw wrong(place, 'true or false')
}

/** An integer as the rest of the house has it: a number where that is exact, else a bigint. */
const readInteger: ReadValue = (value, place) => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  const isDigits = typeof value === 'string' && /^-?\d{1,19}$/.test(value)
  const integer = isDigits || typeof value === 'bigint' ? BigInt(value) : undefined
  if (integer === undefined || !isInt64(integer)) throw wrong(place, 'an integer of 64 bits')
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : integer
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const NOT_FINITE = new Set<unknown>(['NaN', 'Infinity', '-Infinity'])

const readDouble: ReadValue = (value, place) => {
  if (typeof value === 'bigint' || NOT_FINITE.has(value)) return value
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isFinite(number)) return number
  throw wrong(place, 'a finite number')
}

const readBytes: ReadValue = (value, place) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : readString(value, place)

const readArray: ReadValue = (value, place) => {
  const values: unknown[] = []
  for (const element of elementsOf(recordAt(value, place), 'values', place)) {
    values.push(fromAnyValue(element.record, element.place))
  }
  return values
}

const readList: ReadValue = (value, place) => fromKeyValues(recordAt(value, place), 'values', place)

const readers: readonly (readonly [member: string, read: ReadValue])[] = [
  ['stringValue', readString],
  ['boolValue', readBoolean],
  ['intValue', readInteger],
  ['doubleValue', readDouble],
  ['arrayValue', readArray],
  ['kvlistValue', readList],
  ['bytesValue', readBytes],
]

/** The JSON value of an OTLP AnyValue; bytes as base64, no value as null. Throws ImportFault. */
const fromAnyValue = (value: JsonObject, place: ImportLocation): unknown => {
  for (const [member, read] of readers) {
    const memberValue = value[member]
    if (memberValue !== undefined && memberValue !== null) return read(memberValue, memberLocation(place, member))
  }
  return null
}

/** The object that a list of KeyValue spells; without a prototype, since any name may come. The last of equal keys counts. */
export const fromKeyValues = (record: JsonObject, member: string, place: ImportLocation): Attributes => {
  const attributes: Record<string, unknown> = Object.create(null)
  for (const { record: pair, place: at } of elementsOf(record, member, place)) {
    // protobuf leaves an empty name out
    const key = pair.key ?? ''
    if (typeof key !== 'string') throw wrong(memberLocation(at, 'key'), 'a string')
    const value = pair.value ?? {}
    attributes[key] = fromAnyValue(recordAt(value, memberLocation(at, 'value')), memberLocation(at, 'value'))
  }
  return attributes
}
