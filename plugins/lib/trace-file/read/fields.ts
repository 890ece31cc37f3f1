import {
  type Attributes,
  type FailureTag,
  failureTags,
  type Severity,
  type SpanKind,
  spanKinds,
} from 'guard-gateway/core'
import { isId } from '#lib/ids'
import { isJsonObject, type JsonObject } from '#lib/json'
import { traceFileErrors } from '../error-codes.ts'
import { ImportFault, type ImportLocation, memberLocation } from './import-fault.ts'

const STATUS = /^[a-z][a-z0-9_]{0,31}$/
const DIGITS = /^[0-9]{1,19}$/
const MAX_NS = 9_223_372_036_854_775_807n

const severities: readonly unknown[] = ['info', 'warn', 'error'] satisfies Severity[]

/** Reads the value of one field, or throws ImportFault; undefined: as if the field were absent. */
export type Field<T> = (value: unknown, record: ImportLocation, key: string) => T

const wrong = (record: ImportLocation, key: string, expected: string): ImportFault =>
  new ImportFault(traceFileErrors.INVALID_IMPORT, `"${key}" must be ${expected}.`, memberLocation(record, key))

/** An id of 1 to 128 characters that addresses and file names can hold. */
export const idField: Field<string> = (value, record, key) => {
  if (isId(value)) return value
  throw new ImportFault(
    traceFileErrors.INVALID_ID,
    `"${key}" must be an id: 1 to 128 letters, digits or . _ : @ / + = -`,
    memberLocation(record, key),
  )
}

export const textField: Field<string> = (value, record, key) => {
  if (typeof value === 'string') return value
  throw wrong(record, key, 'a string')
}

/** A text that says something: a name, a path. */
export const nameField: Field<string> = (value, record, key) => {
  if (typeof value === 'string' && value !== '') return value
  throw wrong(record, key, 'a string that is not empty')
}

export const statusField: Field<string> = (value, record, key) => {
  if (typeof value === 'string' && STATUS.test(value)) return value
  throw wrong(record, key, 'a lower-case word such as "ok", "error" or "running"')
}

/** Nanoseconds: an integer or decimal digits, up to 2^63 - 1. */
export const nsField: Field<bigint> = (value, record, key) => {
  const ns = integerOf(value)
  if (ns === undefined) throw wrong(record, key, 'nanoseconds: an integer, or a string of digits')
  if (ns >= 0n && ns <= MAX_NS) return ns
  throw new ImportFault(
    traceFileErrors.INVALID_TIME,
    `"${key}" must lie between 0 and ${MAX_NS}.`,
    memberLocation(record, key),
  )
}

export const countField: Field<bigint> = (value, record, key) => {
  const count = integerOf(value)
  if (count !== undefined && count >= 0n && count <= MAX_NS) return count
  throw wrong(record, key, 'an integer from 0')
}

const integerOf = (value: unknown): bigint | undefined => {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  return typeof value === 'string' && DIGITS.test(value) ? BigInt(value) : undefined
}

export const attributesField: Field<Attributes> = (value, record, key) => {
  if (isJsonObject(value)) return value
  throw wrong(record, key, 'an object')
}

/** A kind there is; another value counts as absent, since the kind then follows from name and attributes. */
export const kindField: Field<SpanKind | undefined> = (value) => spanKinds.find((kind) => kind === value)

export const severityField: Field<Severity> = (value, record, key) => {
  if (severities.includes(value)) return value as Severity
  throw wrong(record, key, '"info", "warn" or "error"')
}

export const tagsField: Field<readonly string[]> = (value, record, key) => {
  if (Array.isArray(value) && value.every((tag) => typeof tag === 'string')) return value
  throw wrong(record, key, 'an array of strings')
}

export const failureTagField: Field<FailureTag> = (value, record, key) => {
  const tag = failureTags.find((known) => known === value)
  if (tag !== undefined) return tag
  throw new ImportFault(
    traceFileErrors.INVALID_FAILURE_TAG,
    `"${key}" must be ${failureTags.join(', ')} or null.`,
    memberLocation(record, key),
  )
}

/** The same field, or null. */
export const orNull =
  <T>(field: Field<T>): Field<T | null> =>
  (value, record, key) =>
    value === null ? null : field(value, record, key)

type Fields = Readonly<Record<string, Field<unknown>>>
type ReadFields<F extends Fields> = { readonly [K in keyof F]?: Exclude<ReturnType<F[K]>, undefined> }

/** The fields of `record` that are there, each read by its reader; other members are ignored. */
export const readFields = <F extends Fields>(fields: F, record: JsonObject, place: ImportLocation): ReadFields<F> => {
  const values: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(fields)) {
    const value = Object.hasOwn(record, key) ? record[key] : undefined
    const read = value === undefined ? undefined : field(value, place, key)
    if (read !== undefined) values[key] = read
  }
  return values as ReadFields<F>
}

/** The value of a field that must be there. */
export const needField = <T>(value: T | undefined, key: string, place: ImportLocation): T => {
  if (value !== undefined) return value
  throw new ImportFault(traceFileErrors.INVALID_IMPORT, `"${key}" is missing.`, place)
}
