import type { Table, TableName, Tables } from './contracts/storage.ts'

type ColumnFor<V> = [V] extends [boolean]
  ? 'boolean'
  : [V] extends [bigint]
    ? 'int64'
    : [V] extends [string]
      ? 'text'
      : [V] extends [number]
        ? 'integer' | 'real'
        : [V] extends [readonly string[]]
          ? 'json' | 'search'
          : 'json'
type ColumnsOf<R> = { readonly [C in keyof R]-?: ColumnFor<NonNullable<R[C]>> }
type Names<R> = readonly (keyof R & string)[]

/** A table whose columns agree with its row type, field by field. */
export interface TableOf<N extends TableName> {
  readonly id: N
  readonly key?: Names<Tables[N]>
  readonly columns: ColumnsOf<Tables[N]>
  readonly indexes?: readonly (readonly ((keyof Tables[N] & string) | 'recorded')[])[]
  readonly sparse?: readonly Names<Tables[N]>[]
  readonly unique?: readonly Names<Tables[N]>[]
  readonly repeated?: Names<Tables[N]>
  readonly exact?: Names<Tables[N]>
}

/** Declares a table; its columns are checked against `Tables[id]` when compiled. */
export const table = <N extends TableName>(definition: TableOf<N>): Table => definition as Table
