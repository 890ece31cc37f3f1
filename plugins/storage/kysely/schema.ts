import type { Column, Table } from 'guard-gateway/core'
import type { Kysely } from 'kysely'
import { keyOf, searchColumn, storedColumns } from './shape.ts'

export type Db = Kysely<Record<string, Record<string, unknown>>>

/** Columns by table, with their SQL types, and the names of all indexes, each with its table: what a database has. */
export interface Existing {
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly indexes: ReadonlyMap<string, string>
}

/** One thing to add. */
export type Addition =
  | { readonly kind: 'table'; readonly table: Table }
  | { readonly kind: 'column'; readonly table: string; readonly column: string; readonly type: SqlType }
  | { readonly kind: 'words'; readonly name: string }
  | {
      readonly kind: 'index'
      readonly table: string
      readonly name: string
      readonly columns: readonly string[]
      readonly use: 'ordered' | 'sparse' | 'unique'
    }

type SqlType = 'text' | 'integer' | 'real'

export const SQL_TYPES = {
  text: 'text',
  integer: 'integer',
  int64: 'integer',
  real: 'real',
  boolean: 'integer',
  json: 'text',
  search: 'text',
} as const satisfies Record<Column, SqlType>

/** Name of the table that indexes a table's tokens; its rowid is the row's `recorded`. */
export const wordsTable = (table: string): string => `${table}__words`

/** Indexes that a table wants; `recorded` needs no column of its own, since every index ends in it. */
const indexesOf = (table: Table): Extract<Addition, { kind: 'index' }>[] => {
  const named = (use: keyof typeof MARKS) => (names: readonly string[]) => {
    const columns = names.filter((name) => name !== 'recorded')
    const name = `${table.id}__${MARKS[use]}__${columns.join('__')}`
    return { kind: 'index' as const, table: table.id, name, columns, use }
  }
  return [
    named('unique')(keyOf(table)),
    ...(table.unique ?? []).map(named('unique')),
    ...(table.sparse ?? []).map(named('sparse')),
    ...(table.indexes ?? []).map(named('ordered')).filter(({ columns }) => columns.length > 0),
  ]
}
/** What the name of an index says of its use. */
const MARKS = { ordered: 'i', sparse: 's', unique: 'u' } as const

const missingOf = (table: Table, { tables, indexes }: Existing): Addition[] => {
  const has = tables.get(table.id)
  const made: Addition[] = []
  if (has === undefined) made.push({ kind: 'table', table })
  for (const [column, kind] of has === undefined ? [] : storedColumns(table)) {
    if (has?.has(column) === false) made.push({ kind: 'column', table: table.id, column, type: SQL_TYPES[kind] })
  }
  const words = wordsTable(table.id)
  if (searchColumn(table) !== undefined && !tables.has(words)) made.push({ kind: 'words', name: words })
  return [...made, ...indexesOf(table).filter(({ name }) => !indexes.has(name))]
}

/** What has to be added for these tables, in order; no table and no column is ever changed or dropped. */
export const missing = (tables: readonly Table[], existing: Existing): Addition[] =>
  tables.flatMap((table) => missingOf(table, existing))

/** Says which existing column has another type than declared; undefined if none has. */
export const conflict = (tables: readonly Table[], existing: Existing): string | undefined => {
  for (const table of tables) {
    for (const [name, kind] of storedColumns(table)) {
      const type = existing.tables.get(table.id)?.get(name)
      if (type !== undefined && type !== SQL_TYPES[kind])
        return `column ${table.id}.${name} is ${type} there and ${SQL_TYPES[kind]} here`
    }
  }
  return undefined
}
