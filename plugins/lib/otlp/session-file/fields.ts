import { isJsonObject, type JsonObject } from 'guard-gateway/lib/json'
import { ImportFault, type ImportLocation, memberLocation, traceFileErrors } from 'guard-gateway/lib/trace-file'

const wrong = (place: ImportLocation, key: string, wanted: string): ImportFault =>
  new ImportFault(traceFileErrors.INVALID_IMPORT, `"${key}" must be ${wanted}.`, memberLocation(place, key))

/** A text member; undefined where it is absent or null. Throws ImportFault for another value. */
export const textOf = (record: JsonObject, key: string, place: ImportLocation): string | undefined => {
  const value = record[key]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw wrong(place, key, 'a string')
}

/** An object member; undefined where it is absent or null. Throws ImportFault for another value. */
export const objectOf = (record: JsonObject, key: string, place: ImportLocation): JsonObject | undefined => {
  const value = record[key]
  if (value === undefined || value === null) return undefined
  if (isJsonObject(value)) return value
  throw wrong(place, key, 'an object')
}

/** A list member, of its objects; none where it is absent or null. Throws ImportFault for another value. */
export const objectsOf = (record: JsonObject, key: string, place: ImportLocation): readonly JsonObject[] => {
  const value = record[key]
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.filter(isJsonObject)
  throw wrong(place, key, 'an array')
}

/** A count of tokens; 0 where it is absent or null. Throws ImportFault for what is no integer from 0. */
export const tokensOf = (record: JsonObject, key: string, place: ImportLocation): number => {
  const value = record[key]
  if (value === undefined || value === null) return 0
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw wrong(place, key, 'a number of tokens: an integer from 0')
}

const MIN_MS = 0
const MAX_MS = 253_402_300_799_999
const MS = 1_000_000n

/** Nanoseconds of a time in text such as 2026-01-31T12:00:00.000Z; undefined where it is absent. Throws ImportFault. */
export const timeOf = (record: JsonObject, key: string, place: ImportLocation): bigint | undefined => {
  const text = textOf(record, key, place)
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  if (ms >= MIN_MS && ms <= MAX_MS) return BigInt(ms) * MS
  throw new ImportFault(
    traceFileErrors.INVALID_TIME,
    `"${key}" must be a time like 2026-01-31T12:00:00.000Z.`,
    memberLocation(place, key),
  )
}
