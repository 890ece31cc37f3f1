/** A JSON object whose members are still to be examined. */
export type Shape = Readonly<Record<string, unknown>>

const nothing: Shape = Object.freeze({})

export const isShape = (value: unknown): value is Shape =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The value if it is an object, else an empty one. */
export const shapeOf = (value: unknown): Shape => (isShape(value) ? value : nothing)

/** The value if it is an array, else an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The value if it is a string that is not empty. */
export const wordOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The first value that is neither null nor absent. */
export const firstOf = (...values: readonly unknown[]): unknown => {
  for (const value of values) if (value !== undefined && value !== null) return value
}
