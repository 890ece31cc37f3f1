/** A node of a syntax tree, or a member of one, with unvalidated members. */
export type Shape = Readonly<Record<string, unknown>>

export const isShape = (value: unknown): value is Shape =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The value if it is a node, else an empty node. */
export const shapeOf = (value: unknown): Shape => (isShape(value) ? value : {})

/** The value if it is a list, else an empty list. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
