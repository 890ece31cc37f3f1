export type Scalar = string | number | bigint | boolean

/** A test of a column: equal to a value, null, not null, one of several values, or in a half-open range. A range without ends accepts every value, and null. */
export type Test<V> =
  | NonNullable<V>
  | null
  | { readonly in: readonly NonNullable<V>[] }
  | { readonly not: null }
  | { readonly gte?: NonNullable<V>; readonly lt?: NonNullable<V> }

/** Tests by column. A row must meet all of them. Json and search columns cannot be tested. */
export type Where<R> = { readonly [K in keyof R as NonNullable<R[K]> extends Scalar ? K : never]?: Test<R[K]> }
export type AnyWhere = Readonly<Record<string, Test<Scalar>>>

/** The order of rows. `recorded` is the order of first put; the default is `recorded`, newest first. Texts are compared by code points. Nulls are last. Equal values are ordered by `recorded`. */
export type Order<C extends string = string> = readonly [column: C | 'recorded', direction: 'asc' | 'desc']

export interface Query<R> {
  readonly where?: Where<R>
  /** Tokens that must all occur. `abc*` matches a prefix. */
  readonly search?: readonly string[]
  readonly order?: Order<keyof R & string>
  /** 50 if absent. */
  readonly limit?: number
  /** The `next_cursor` of the previous page of the same query. */
  readonly cursor?: string
  /** Return a cursor for every row, for callers that merge several queries. */
  readonly cursors?: boolean
}

export interface Found<R> {
  readonly rows: readonly R[]
  /** Null: this is the last page. */
  readonly next_cursor: string | null
  /** The page ended early, because too many rows were examined. The cursor continues after them. */
  readonly truncated: boolean
  /** If the query asked for them: for each row the cursor that continues after it. */
  readonly cursors?: readonly string[]
}

/** What to add up. Rows are scanned in `order`, as those of a query, and an index must serve it. */
export interface Sum<R, B extends string = string, O extends string = string> {
  readonly where?: Where<R>
  /** `recorded` if absent. */
  readonly order?: Order<keyof R & string>
  /** The columns to group by: text, integer or boolean. Rows that are equal in all of them are one group. */
  readonly by: readonly B[]
  /** The integer columns to add up. Null adds nothing. */
  readonly of: readonly O[]
}

/** A group of rows that are equal in the `by` columns: these values, the number of rows, and the sums. */
export interface Group<B extends string = string, O extends string = string> {
  readonly by: Readonly<Record<B, string | number | boolean | null>>
  readonly rows: number
  readonly sums: Readonly<Record<O, number>>
}

/** A sum, as backends receive it: complete, names are checked, and an index serves its order. */
export interface DriverSum {
  readonly where: AnyWhere
  readonly order: Order
  readonly by: readonly string[]
  readonly of: readonly string[]
}
