import type { AnyWhere, Order, Where } from './storage-query.ts'

/** What is to be added up. Rows are walked along `order` as a query's are, which an index must serve. */
export interface Sum<R, B extends string = string, O extends string = string> {
  readonly where?: Where<R>
  /** By `recorded` if absent. */
  readonly order?: Order<keyof R & string>
  /** Text, integer and boolean columns: rows that are equal in all of them are added up together. */
  readonly by: readonly B[]
  /** Integer columns; null adds nothing. */
  readonly of: readonly O[]
}

/** Rows that are equal in some columns: their values there, how many they are, and what they come to. */
export interface Group<B extends string = string, O extends string = string> {
  readonly by: Readonly<Record<B, string | number | boolean | null>>
  readonly rows: number
  readonly sums: Readonly<Record<O, number>>
}

/** A sum as backends see it: complete, names checked, its order served by an index. */
export interface DriverSum {
  readonly where: AnyWhere
  readonly order: Order
  readonly by: readonly string[]
  readonly of: readonly string[]
}
