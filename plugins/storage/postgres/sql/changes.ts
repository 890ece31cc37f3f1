import type { Table } from 'guard-gateway/core'
import { type RawBuilder, sql } from 'kysely'
import { type Compiled, compiled } from '../../kysely/query.ts'
import { type Clause, keyOf } from '../../kysely/shape.ts'
import { keyTest, testsOf, typed } from './clauses.ts'
import { compiler as db } from './compiler.ts'

/**
 * How a failed condition shows. `count`: the statement touches no row; for a batch of one change. `raise`: it raises
 * `CONDITION_FAILED`, so that the server skips the rest of the batch and rolls back what was before.
 */
export type OnFailed = 'count' | 'raise'

/** A statement that returns one row, or raises division_by_zero unless `rows` has some. */
const raising = (name: string, rows: Compiled): Compiled => ({
  sql: `with "${name}" as (${rows.sql}) select 1 / count(*) as condition_holds from "${name}"`,
  take: rows.take,
})

const tokens = (place: number): RawBuilder<unknown> => sql`array_to_tsvector(${place}::text[])`

const written = (table: Table, name: string, place: number): RawBuilder<unknown> => {
  const kind = table.columns[name] ?? 'text'
  return kind === 'search' ? tokens(place) : typed(place, kind)
}

const rowOf = (table: Table, names: readonly string[], first = 0): Record<string, RawBuilder<unknown>> =>
  Object.fromEntries(names.map((name, at) => [name, written(table, name, first + at)]))

/** Writes a whole row. Values: all columns. With `absent` an existing row raises unique_violation, or touches no row. */
export const putSql = (table: Table, absent: boolean, onFailed: OnFailed): Compiled => {
  const key = keyOf(table)
  const names = Object.keys(table.columns)
  const insert = db.insertInto(table.id).values(rowOf(table, names))
  if (absent) return compiled(onFailed === 'count' ? insert.onConflict((on) => on.doNothing()) : insert)
  const rest = names.filter((name) => !key.includes(name))
  const replaced = Object.fromEntries((rest.length > 0 ? rest : key).map((name) => [name, sql.ref(`excluded.${name}`)]))
  return compiled(insert.onConflict((on) => on.columns([...key]).doUpdateSet(replaced)))
}

/** Values: the changed columns, the key, the expected ones. Without a column it only looks, and locks nothing. */
export const patchSql = (
  table: Table,
  columns: readonly string[],
  expected: readonly Clause[],
  onFailed: OnFailed,
): Compiled => {
  const after = columns.length + keyOf(table).length
  const key = keyTest(table, columns.length)
  const tests = testsOf(table, expected, after)
  if (columns.length === 0) {
    const rows = compiled(db.selectFrom(table.id).select(sql`1`.as('found')).where(key).where(tests))
    return onFailed === 'count' ? rows : raising('found', rows)
  }
  const update = db.updateTable(table.id).set(rowOf(table, columns)).where(key).where(tests)
  if (onFailed === 'count') return compiled(update)
  return raising('changed', compiled(update.returning(sql`1`.as('one'))))
}

const LEAST = sql.lit(Number.MIN_SAFE_INTEGER)
const MOST = sql.lit(Number.MAX_SAFE_INTEGER)

/** Values: the key, then what is added. Neither the addends nor the sums leave the safe integers, so that no sum overflows. */
export const addSql = (table: Table, columns: readonly string[]): Compiled => {
  const key = keyOf(table)
  const sums = columns.map((name) => {
    const sum = sql`coalesce(${sql.ref(`${table.id}.${name}`)}, 0) + ${sql.ref(`excluded.${name}`)}`
    return [name, sql`least(greatest(${sum}, ${LEAST}), ${MOST})`]
  })
  const insert = db
    .insertInto(table.id)
    .values({ ...rowOf(table, key), ...rowOf(table, columns, key.length) })
    .onConflict((on) => on.columns([...key]).doUpdateSet(Object.fromEntries(sums)))
  return compiled(insert)
}

/** Values: the key. */
export const removeSql = (table: Table): Compiled => compiled(db.deleteFrom(table.id).where(keyTest(table, 0)))

/** Removes some rows. Values: those of the tests. A row that changed meanwhile is tested again. */
export const pruneSql = (table: Table, where: readonly Clause[], limit: number): Compiled => {
  const rows = db
    .selectFrom(table.id)
    .select('recorded')
    .where(testsOf(table, where, 0))
    .limit(sql.lit(limit))
  return compiled(
    db
      .deleteFrom(table.id)
      .where('recorded', 'in', rows)
      .where(testsOf(table, where, 0)),
  )
}

/** Locks a row, if it exists, against every other writer. Values: the key. */
export const lockSql = (table: Table): Compiled =>
  compiled(db.selectFrom(table.id).select(sql`1`.as('locked')).where(keyTest(table, 0)).forUpdate())
