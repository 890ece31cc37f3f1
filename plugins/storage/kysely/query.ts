import type { Table } from 'guard-gateway/core'
import { type RawBuilder, sql } from 'kysely'
import { type Db, wordsTable } from './schema.ts'
import { type Clause, keyOf, type Shape, searchColumn, storedColumns, takesValue, type WriteShape } from './shape.ts'

/** SQL text and, for each of its parameters, the place of the value among those of the shape. */
export interface Compiled {
  readonly sql: string
  readonly take: readonly number[]
}

/** One statement of a change; `must`: the change's condition failed if it touches no row. */
export interface Step extends Compiled {
  readonly must: boolean
}

type Sized<K extends Shape['kind']> = Extract<Shape, { readonly kind: K }>

export const compiled = (query: {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] }
}): Compiled => {
  const { sql: text, parameters } = query.compile()
  return { sql: text, take: parameters as readonly number[] }
}

export const COMPARE = { eq: sql`=`, gte: sql`>=`, lt: sql`<` } as const

/** One test; `place` is where its value is. A `loose` test does not invite the planner to use an index. */
const testOf = (table: string, [column, op]: Clause, place: number, loose = false): RawBuilder<boolean> => {
  const target = loose ? sql`+${sql.ref(`${table}.${column}`)}` : sql.ref(`${table}.${column}`)
  if (op === 'null') return sql`${target} is null`
  if (op === 'not_null') return sql`${target} is not null`
  if (op === 'in') return sql`${target} in (select value from json_each(${place}))`
  return sql`${target} ${COMPARE[op]} ${place}`
}

/** Tests joined by AND; their values stand in order from `first` on. */
export const testsOf = (
  table: string,
  clauses: readonly Clause[],
  first: number,
  loose: (clause: Clause) => boolean = () => false,
): RawBuilder<boolean> => {
  let place = first
  const tests = clauses.map((clause) => testOf(table, clause, takesValue(clause) ? place++ : -1, loose(clause)))
  return tests.length === 0 ? sql`true` : sql`${sql.join(tests, sql` and `)}`
}

const keyTest = (table: Table, first: number) =>
  testsOf(
    table.id,
    keyOf(table).map((name): Clause => [name, 'eq']),
    first,
  )

/** Gives the row with this key these tokens, whose text is at `words`. */
const setWords = (db: Db, table: Table, words: number, key: RawBuilder<boolean>): Step => {
  const row = db
    .selectFrom(table.id)
    .select(['recorded', sql`${words}`.as('words')])
    .where(key)
  return { ...compiled(db.replaceInto(wordsTable(table.id)).columns(['rowid', 'words']).expression(row)), must: false }
}

const clearWords = (db: Db, table: Table, key: RawBuilder<boolean>): Step => {
  const row = db.selectFrom(table.id).select('recorded').where(key)
  return { ...compiled(db.deleteFrom(wordsTable(table.id)).where('rowid', 'in', row)), must: false }
}

/** Values: the columns that have some, then the text of the tokens if there are some. */
const putSteps = (db: Db, table: Table, { absent, words, columns, constants }: Sized<'put'>): Step[] => {
  const key = keyOf(table)
  const insert = db.insertInto(table.id).values({
    ...Object.fromEntries(columns.map((name, place) => [name, place])),
    ...Object.fromEntries(constants.map(([name, value]) => [name, sql.lit(value)])),
  })
  // a column left out is null in `excluded`, so that it is set to null as well
  const rest = storedColumns(table)
    .map(([name]) => name)
    .filter((name) => !key.includes(name))
  const replaced = Object.fromEntries((rest.length > 0 ? rest : key).map((name) => [name, sql.ref(`excluded.${name}`)]))
  const row = insert.onConflict((on) => (absent ? on.doNothing() : on.columns([...key]).doUpdateSet(replaced)))
  const steps: Step[] = [{ ...compiled(row), must: true }]
  if (searchColumn(table) === undefined) return steps
  const tests = key.map((name) => testOf(table.id, [name, 'eq'], columns.indexOf(name)))
  const found: RawBuilder<boolean> = sql`${sql.join(tests, sql` and `)}`
  if (words) steps.push(setWords(db, table, columns.length, found))
  else if (!absent) steps.push(clearWords(db, table, found))
  return steps
}

/** Values: the changed columns, the key, the expected ones, then the text of the tokens if they are set. */
const patchSteps = (db: Db, table: Table, { columns, words, expected }: Sized<'patch'>): Step[] => {
  const first = columns.length
  const key = keyOf(table)
  const after = first + key.length
  const same = key[0] ?? 'id'
  const set =
    columns.length === 0
      ? { [same]: sql.ref(`${table.id}.${same}`) }
      : Object.fromEntries(columns.map((name, place) => [name, place]))
  const update = db
    .updateTable(table.id)
    .set(set)
    .where(keyTest(table, first))
    .where(testsOf(table.id, expected, after))
  const steps: Step[] = [{ ...compiled(update), must: true }]
  if (words === 'set')
    steps.push(setWords(db, table, after + expected.filter(takesValue).length, keyTest(table, first)))
  if (words === 'clear') steps.push(clearWords(db, table, keyTest(table, first)))
  return steps
}

/** Values: the key, then what is added. Neither the addends nor the sums leave the safe integers, so that no sum overflows. */
const addSteps = (db: Db, table: Table, { columns }: Sized<'add'>): Step[] => {
  const key = keyOf(table)
  const row = Object.fromEntries([...key, ...columns].map((name, place) => [name, place]))
  const sums = columns.map((name) => {
    const sum = sql`coalesce(${sql.ref(`${table.id}.${name}`)}, 0) + ${sql.ref(`excluded.${name}`)}`
    return [name, sql`min(max(${sum}, ${LEAST}), ${MOST})`]
  })
  const insert = db
    .insertInto(table.id)
    .values(row)
    .onConflict((on) => on.columns([...key]).doUpdateSet(Object.fromEntries(sums)))
  return [{ ...compiled(insert), must: false }]
}
const LEAST = sql.lit(Number.MIN_SAFE_INTEGER)
const MOST = sql.lit(Number.MAX_SAFE_INTEGER)

/** Values: the key. */
const removeSteps = (db: Db, table: Table): Step[] => {
  const row = { ...compiled(db.deleteFrom(table.id).where(keyTest(table, 0))), must: false }
  return searchColumn(table) === undefined ? [row] : [clearWords(db, table, keyTest(table, 0)), row]
}

/** The statements of one change, in order. */
export const writeSteps = (db: Db, table: Table, shape: WriteShape): Step[] => {
  if (shape.kind === 'put') return putSteps(db, table, shape)
  if (shape.kind === 'add') return addSteps(db, table, shape)
  return shape.kind === 'patch' ? patchSteps(db, table, shape) : removeSteps(db, table)
}

/** All columns as they are read: int64 as text, since a double cannot hold it. */
export const selection = (table: Table) =>
  storedColumns(table).map(([name, kind]) => {
    const column = sql.ref(`${table.id}.${name}`)
    return kind === 'int64' ? sql`cast(${column} as text)`.as(name) : sql`${column}`.as(name)
  })

/** Values: the key. */
export const getSql = (db: Db, table: Table): Compiled =>
  compiled(db.selectFrom(table.id).select(selection(table)).where(keyTest(table, 0)))

/** Values: those of the tests, then the limit. The `recorded` of removed rows is returned, so that their tokens can go too. */
export const pruneSql = (db: Db, table: Table, { where }: Sized<'prune'>): Compiled => {
  const limit = where.filter(takesValue).length
  const rows = db
    .selectFrom(table.id)
    .select('recorded')
    .where(testsOf(table.id, where, 0))
    .limit(limit)
  return compiled(db.deleteFrom(table.id).where('recorded', 'in', rows).returning('recorded'))
}

/** Value: a JSON list of what `pruneSql` returned. */
export const pruneWordsSql = (db: Db, table: Table): Compiled =>
  compiled(db.deleteFrom(wordsTable(table.id)).where(sql<boolean>`rowid in (select value from json_each(${0}))`))
