import type { Table } from 'guard-gateway/core'
import { sql } from 'kysely'
import { type Addition, type Db, SQL_TYPES } from './schema.ts'
import { keyOf, storedColumns } from './shape.ts'

const tableSql = (db: Db, table: Table): string => {
  const key = keyOf(table)
  let made = db.schema.createTable(table.id).addColumn('recorded', 'integer', (column) => column.primaryKey())
  for (const [name, kind] of storedColumns(table)) {
    made = made.addColumn(name, SQL_TYPES[kind], (column) => (key.includes(name) ? column.notNull() : column))
  }
  return made.modifyEnd(sql`strict`).compile().sql
}

// our tokens are lower-case already, and this tokenizer takes every letter beyond ASCII as it is, of whatever Unicode version
const wordsSql = (name: string): string =>
  `create virtual table "${name}" using fts5(words, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '_'")`

/** The SQLite statement that makes an addition. */
export const additionSql = (db: Db, addition: Addition): string => {
  if (addition.kind === 'table') return tableSql(db, addition.table)
  if (addition.kind === 'words') return wordsSql(addition.name)
  if (addition.kind === 'column')
    return db.schema.alterTable(addition.table).addColumn(addition.column, addition.type).compile().sql
  const { name, table, columns, use } = addition
  const index = db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns])
  if (use === 'sparse') return index.where(sql.ref(columns[0] ?? ''), 'is not', null).compile().sql
  return (use === 'unique' ? index.unique() : index).compile().sql
}
