import { Type } from '#lib/json'

export const text = Type.String()
export const textOrNull = Type.Union([Type.String(), Type.Null()])
export const count = Type.Integer({ minimum: 0 })
export const countOrNull = Type.Union([count, Type.Null()])
export const flagOrNull = Type.Union([Type.Boolean(), Type.Null()])
export const time = Type.String({ format: 'date-time' })
export const timeOrNull = Type.Union([time, Type.Null()])

/** One of these words. */
export const oneOf = <V extends string>(words: readonly V[], more: { readonly description?: string } = {}) =>
  Type.Unsafe<V>({ type: 'string', enum: [...words], ...more })

/** One of these words, or null. */
export const oneOfOrNull = <V extends string>(words: readonly V[], more: { readonly description?: string } = {}) =>
  Type.Unsafe<V | null>({ enum: [...words, null], ...more })

/** The part of a page that leads to the next one. */
export const paged = {
  next_cursor: textOrNull,
  truncated: Type.Boolean({ description: 'The page ended early; the cursor goes on.' }),
}

export const since = Type.String({ description: 'An age such as 24h, today, yesterday, or a time.' })
export const paging = (most: number) => ({
  limit: Type.Integer({ minimum: 1, maximum: most, default: 50 }),
  cursor: Type.Optional(Type.String()),
})
