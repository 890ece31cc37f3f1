import type { JsonObject } from 'guard-gateway/lib/json'
import { ImportFault, type ImportLocation, memberLocation, traceFileErrors } from 'guard-gateway/lib/trace-file'

/** An id of up to so many hex digits, filled up with zeros in front. Throws ImportFault. */
export const hexIdOf = (record: JsonObject, key: string, digits: 16 | 32, place: ImportLocation): string => {
  const id = record[key]
  if (typeof id === 'string' && id.length <= digits && /^[0-9a-fA-F]+$/.test(id))
    return id.toLowerCase().padStart(digits, '0')
  throw new ImportFault(
    traceFileErrors.INVALID_ID,
    `"${key}" must be 1 to ${digits} hex digits.`,
    memberLocation(place, key),
  )
}

const MICRO = 1_000n

/** Nanoseconds of a member in microseconds; 0 where it is absent. Throws ImportFault. */
export const nsOfMicros = (record: JsonObject, key: string, place: ImportLocation): bigint => {
  const value = record[key] ?? 0
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value) * MICRO
  throw new ImportFault(traceFileErrors.INVALID_TIME, `"${key}" must be microseconds.`, memberLocation(place, key))
}
