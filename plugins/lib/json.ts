import type * as TypeBox from 'typebox'
import { isScanFault, type JsonValue, pointerPart, scanJson } from './json/scan.ts'
import { lineAndColumn } from './json/syntax.ts'

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
export { LongStringCutter } from './json/long-strings.ts'
export { closingQuote, JsonMarks, mark } from './json/marks.ts'

export { tooDeepAt } from './json/outline.ts'
export { parseJson } from './json/parse.ts'
export type { StrictJson } from './json/reader.ts'
export { readJson, readJsonStrict, writeJson } from './json/reader.ts'
export {
  isScanFault,
  type JsonMember,
  type JsonScan,
  type JsonValue,
  keyOfPart,
  pointerKeys,
  pointerPart,
  scanJson,
} from './json/scan.ts'

export { lineAndColumn, syntaxErrorAt } from './json/syntax.ts'

/** Whether a parsed value holds an integer beyond 2^53, which may have lost digits. */
export const hasRoundedInteger = (value: unknown): boolean => {
  if (typeof value === 'number') return !Number.isSafeInteger(value) && Number.isInteger(value)
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some(hasRoundedInteger)
  const object = value as Readonly<Record<string, unknown>>
  for (const name in object) if (hasRoundedInteger(object[name])) return true
  return false
}

/** The JSON value of a text; undefined if it is none. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
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

/** Keys from the outermost value inwards. */
export type JsonPath = readonly (string | number)[]

/** Line and column, both from 1, of the value at `path` in valid JSON; of the innermost one there is where the path leads nowhere. */
export const lineAndColumnAt = (text: string, path: JsonPath): { line: number; column: number } => {
  // where a whole text begins is asked of every span of a file
  if (path.length === 0) return lineAndColumn(text, Math.max(0, text.search(/[^ \t\n\r]/)))
  const scan = scanJson(text, { keep: path.length, max_depth: Number.POSITIVE_INFINITY })
  if (isScanFault(scan)) return { line: 1, column: 1 }
  let value = scan.root
  for (const key of path) {
    const part = partOf(value, key)
    if (part === undefined) break
    value = part
  }
  return lineAndColumn(text, value.start)
}

/** Of a member that appears twice the last counts, as it does for parsers. */
const partOf = ({ items, members }: JsonValue, key: string | number): JsonValue | undefined =>
  typeof key === 'number' ? items?.[key] : members?.findLast(({ name }) => name === key)?.value

/** The path as a JSON pointer. */
export const pointerOf = (path: JsonPath): string => path.map((key) => `/${pointerPart(String(key))}`).join('')

/** The pointer to the first number that not every reader of JSON takes for the same: an integer beyond 2^53, or a number beyond all; undefined if there is none. `value` nests as deep as its reader allowed. */
export const inexactNumber = (value: unknown, path: JsonPath = []): string | undefined => {
  if (typeof value === 'bigint') return pointerOf(path)
  if (typeof value === 'number') {
    const exact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    return exact ? undefined : pointerOf(path)
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, part] of Object.entries(value)) {
    const found = inexactNumber(part, [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}

type Schema = Record<string, unknown>
type Options = Schema | undefined

/** Not enumerable, as in TypeBox: it is no part of the schema. */
const OPTIONAL = '~optional'

const optional = (schema: Schema): Schema => Object.defineProperty({ ...schema }, OPTIONAL, { value: true })

const object = (properties: Record<string, Schema>, options?: Options): Schema => {
  const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] ?? {})))
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options }
}

const schemas = {
  Array: (items: Schema, options?: Options): Schema => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options): Schema => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Options): Schema => ({ enum: values, ...options }),
  Integer: (options?: Options): Schema => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Options): Schema => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options): Schema => ({ type: 'null', ...options }),
  Number: (options?: Options): Schema => ({ type: 'number', ...options }),
  Object: object,
  Optional: optional,
  Partial: ({ properties }: { readonly properties: Record<string, Schema> }): Schema =>
    object(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, optional(schema)]))),
  Record: (key: Schema, values: Schema, options?: Options): Schema => ({
    type: 'object',
    patternProperties: { [String(key.pattern ?? '^.*$')]: values },
    ...options,
  }),
  String: (options?: Options): Schema => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Options): Schema => ({ anyOf, ...options }),
  Unknown: (options?: Options): Schema => ({ ...options }),
  Unsafe: (schema: Schema): Schema => ({ ...schema }),
}

/** Builds JSON schemas as TypeBox does, with its types; TypeBox itself is 373 modules that nothing else here needs. */
export const Type = schemas as unknown as Pick<typeof TypeBox, keyof typeof schemas>
