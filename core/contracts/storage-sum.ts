import type { AnyWhere, Order, Where } from './storage-query.ts'

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
