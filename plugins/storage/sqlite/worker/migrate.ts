import type { Database } from 'better-sqlite3'
import { conflict, type Existing, missing } from '../../kysely/schema.ts'
import { damaged } from '../file/file.ts'
import type { OpenOptions } from '../protocol.ts'

const existing = (db: Database): Existing => {
  const rows = db.prepare('select type, name, tbl_name as owner from sqlite_schema').all() as {
    type: string
    name: string
    owner: string
  }[]
  const columns = db.prepare('select name, lower(type) as type from pragma_table_info(?)')
  const columnsOf = (table: string) =>
    new Map((columns.all(table) as { name: string; type: string }[]).map(({ name, type }) => [name, type]))
  return {
    tables: new Map(rows.filter(({ type }) => type === 'table').map(({ name }) => [name, columnsOf(name)])),
    indexes: new Map(rows.filter(({ type }) => type === 'index').map(({ name, owner }) => [name, owner])),
  }
}

/** Adds missing tables, columns and indexes in one transaction. Writes nothing if nothing is missing. Throws DATABASE_DAMAGED if a column has another type. */
export const migrate = async (db: Database, { file, tables }: OpenOptions): Promise<void> => {
  const clash = conflict(tables, existing(db))
  if (clash !== undefined) throw damaged(file, `does not fit: ${clash}`)
  if (missing(tables, existing(db)).length === 0) return
  // kysely takes a tenth of a second to load; an ordinary start does not need it
  const [{ additionSql }, { compiler }] = await Promise.all([import('../../kysely/ddl.ts'), import('./compiler.ts')])
  db.transaction(() => {
    // read again in the transaction: another process may have added them meanwhile
    for (const addition of missing(tables, existing(db))) db.exec(additionSql(compiler, addition))
  }).immediate()
}
