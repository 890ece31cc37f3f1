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
