export type Scalar = string | number | bigint | boolean

/** Equal to a value, null, not null, one of several, or within a half-open range; one without ends holds every value, and null. */
export type Test<V> =
  | NonNullable<V>
  | null
  | { readonly in: readonly NonNullable<V>[] }
  | { readonly not: null }
  | { readonly gte?: NonNullable<V>; readonly lt?: NonNullable<V> }

/** Tests by column; all must hold. Json and search columns cannot be tested. */
export type Where<R> = { readonly [K in keyof R as NonNullable<R[K]> extends Scalar ? K : never]?: Test<R[K]> }
export type AnyWhere = Readonly<Record<string, Test<Scalar>>>

/** `recorded` is the order of first put; it is the default, newest first. Texts go by code points. Nulls come last; ties go by `recorded`. */
export type Order<C extends string = string> = readonly [column: C | 'recorded', direction: 'asc' | 'desc']

export interface Query<R> {
  readonly where?: Where<R>
  /** Tokens that all must occur; `abc*` is a prefix. */
  readonly search?: readonly string[]
  readonly order?: Order<keyof R & string>
  /** 50 if absent. */
  readonly limit?: number
  /** `next_cursor` of the page before, for the same query. */
  readonly cursor?: string
  /** Give a cursor for every row, for readers that merge several queries. */
  readonly cursors?: boolean
}

export interface Found<R> {
  readonly rows: readonly R[]
  /** Null: there is no more. */
  readonly next_cursor: string | null
  /** The page ended because too many rows would have been examined; the cursor goes on. */
  readonly truncated: boolean
  /** Where asked for: what goes on behind each row. */
  readonly cursors?: readonly string[]
}
