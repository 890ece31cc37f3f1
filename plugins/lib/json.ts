export { readJsonChunked } from './json/chunked.ts'
export {
  applyEdits,
  type Edit,
  memberIn,
  removalsFrom,
  removeAt,
  removeMembers,
  setAt,
  setMember,
  sourceOf,
  stringIn,
  valueAt,
} from './json/edit.ts'
export { inexactNumber, type JsonPath, lineAndColumnAt, pointerOf } from './json/locate.ts'
export { LongStringCutter } from './json/long-strings.ts'
export { closingQuote, JsonMarks, mark } from './json/marks.ts'

export { tooDeepAt } from './json/outline.ts'
export { parseJson } from './json/parse.ts'
export { keyOfPart, pointerKeys, pointerPart } from './json/pointer.ts'
export type { StrictJson } from './json/reader.ts'
export { readJson, readJsonStrict, writeJson } from './json/reader.ts'

export { isScanFault, type JsonScan, type ScanFault, type ScanOptions, scanJson } from './json/scan.ts'
export { Type } from './json/schema.ts'
export { lineAndColumn, syntaxErrorAt } from './json/syntax.ts'
export type { JsonMember, JsonValue } from './json/value.ts'

/** Whether a parsed value holds an integer beyond 2^53, which may have lost digits. */
export const hasRoundedInteger = (value: unknown): boolean => {
  if (typeof value === 'number') return !Number.isSafeInteger(value) && Number.isInteger(value)
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some(hasRoundedInteger)
  const object = value as Readonly<Record<string, unknown>>
  for (const name in object) if (hasRoundedInteger(object[name])) return true
  return false
}

/** A JSON object whose members are still to be examined. */
export type JsonObject = Readonly<Record<string, unknown>>

const nothing: JsonObject = Object.freeze({})

export const isJsonObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The value if it is an object, else an empty one. */
export const jsonObjectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : nothing)

/** The value if it is an array, else an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The value if it is a string that is not empty. */
export const nonEmptyText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/** The first value that is neither null nor absent. */
export const firstOf = (...values: readonly unknown[]): unknown => {
  for (const value of values) if (value !== undefined && value !== null) return value
}
