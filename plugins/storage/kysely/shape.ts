import type { Column, Order, Table } from 'guard-gateway/core'

/** A column whose value is in the SQL text itself. */
export type Constant = readonly [column: string, value: SqlValue]

export type Op = 'eq' | 'null' | 'not_null' | 'in' | 'gte' | 'lt'

/** One test without its value. Every op but `null` and `not_null` takes one value; `in` takes a JSON list. */
export type Clause = readonly [column: string, op: Op]

/** What is asked, without the values: everything that decides the SQL text, as plain data. */
export type Shape =
  | {
      readonly kind: 'put'
      readonly table: string
      readonly absent: boolean
      readonly words: boolean
      /** Those with values; the others are null or constants. */
      readonly columns: readonly string[]
      readonly constants: readonly Constant[]
    }
  | {
      readonly kind: 'patch'
      readonly table: string
      readonly columns: readonly string[]
      readonly words: 'keep' | 'clear' | 'set'
      readonly expected: readonly Clause[]
    }
  | { readonly kind: 'add'; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: 'remove'; readonly table: string }
  | { readonly kind: 'prune'; readonly table: string; readonly where: readonly Clause[] }
  | { readonly kind: 'get'; readonly table: string }
  | {
      readonly kind: 'find'
      readonly table: string
      readonly where: readonly Clause[]
      readonly order: Order
      readonly search: boolean
    }
  | {
      readonly kind: 'sum'
      readonly table: string
      readonly where: readonly Clause[]
      readonly order: Order
      readonly by: readonly string[]
      readonly of: readonly string[]
    }

/** The kinds of shapes that change rows. */
const CHANGES: ReadonlySet<Shape['kind']> = new Set<Shape['kind']>(['put', 'patch', 'add', 'remove'])
export type WriteShape = Extract<Shape, { readonly kind: 'put' | 'patch' | 'add' | 'remove' }>

export const isChange = (shape: Shape): shape is WriteShape => CHANGES.has(shape.kind)

/** A value as SQL takes it. */
export type SqlValue = string | number | bigint | null

export const takesValue = ([, op]: Clause): boolean => op !== 'null' && op !== 'not_null'

/** Columns that SQL rows have, in the order in which they are written and read. */
export const storedColumns = ({ columns }: Table): [name: string, kind: Column][] =>
  Object.entries(columns).filter(([, kind]) => kind !== 'search')

export const searchColumn = ({ columns }: Table): string | undefined =>
  Object.entries(columns).find(([, kind]) => kind === 'search')?.[0]

export const keyOf = ({ key }: Table): readonly string[] => key ?? ['id']
