import type { Table } from 'guard-gateway/core'
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { selection, testsOf } from './query.ts'
import { type Db, wordsTable } from './schema.ts'
import { type Clause, keyOf, type Shape, takesValue } from './shape.ts'

type Find = Extract<Shape, { readonly kind: 'find' }>

/** How the rows of a query are walked: in its order, so that a walk can stop anywhere and continue later. */
export interface FindPlan {
  /** `words`: by the token index, where the order is that of `recorded`. */
  readonly by: 'rows' | 'words'
  /** Columns whose tests the index itself serves. */
  readonly held: ReadonlySet<string>
  /** Every row walked is a row found, so that the page's limit bounds the walk. */
  readonly exact: boolean
  /** The order column may be null, and nulls are walked last. */
  readonly nulls: boolean
}

const prefixOf = (index: readonly string[], equal: ReadonlySet<string>): number => {
  const end = index.findIndex((name) => !equal.has(name))
  return end === -1 ? index.length : end
}

/** The longest run of equality-tested columns that some index has before the order column; `known`: those tested for a value, not for null. */
const fixedColumns = (
  table: Table,
  column: string,
  equal: ReadonlySet<string>,
  known: ReadonlySet<string>,
): ReadonlySet<string> => {
  const sparse = (table.sparse ?? []).filter(([first]) => first !== undefined && known.has(first))
  let best: readonly string[] = []
  for (const columns of [keyOf(table), ...(table.unique ?? []), ...(table.indexes ?? []), ...sparse]) {
    const index = columns.filter((name) => name !== 'recorded')
    const place = column === 'recorded' ? index.length : index.indexOf(column)
    if (place > best.length && prefixOf(index, equal) >= place) best = index.slice(0, place)
  }
  return new Set(best)
}

/** Whether walking the index passes over no row that fails this test. */
export const serves = (held: ReadonlySet<string>, [column]: Find['order'], [name, op]: Clause): boolean =>
  held.has(name) || (name === column && op !== 'in')

/** Chooses how to walk the rows of a query. */
export const findPlanOf = (table: Table, { where, order, search }: Find): FindPlan => {
  const [column] = order
  const key = keyOf(table)
  const nulls = column !== 'recorded' && !key.includes(column)
  if (search && column === 'recorded') return { by: 'words', held: new Set(), exact: where.length === 0, nulls }
  const equal = new Set(where.filter(([, op]) => op === 'eq' || op === 'null').map(([name]) => name))
  const known = new Set(where.filter(([, op]) => op === 'eq').map(([name]) => name))
  const held = fixedColumns(table, column, equal, known)
  const served = where.every((clause) => serves(held, order, clause))
  // rows that share the first part of a longer key belong to one thing, and a thing is small
  const group = key.length > 1 && equal.has(key[0] ?? '')
  return { by: 'rows', held, exact: (served || group) && !search, nulls }
}

/** Which stretch of the walk: `values` before `nulls`, or `all` where nothing is null; after a row; up to and with a row. */
export interface ScanPhase {
  readonly phase: 'all' | 'values' | 'nulls'
  readonly after: boolean
  readonly upto: boolean
}

/** Places of a query's values: those of its tests come first. */
export const phasesOf = ({ where }: Pick<Find, 'where'>) => {
  const first = where.filter(takesValue).length
  return {
    match: first,
    afterValue: first + 1,
    afterRecorded: first + 2,
    uptoValue: first + 3,
    uptoRecorded: first + 4,
    count: first + 5,
  }
}

type Rows = SelectQueryBuilder<Record<string, Record<string, unknown>>, string, object>

/** A stretch without its order. */
export const within = (db: Db, table: Table, shape: Find, scan: FindPlan, { phase, after, upto }: ScanPhase): Rows => {
  const places = phasesOf(shape)
  const [column, direction] = shape.order
  const words = sql.ref(`${wordsTable(table.id)}.rowid`)
  const recorded = scan.by === 'words' ? words : sql.ref(`${table.id}.recorded`)
  const byColumn = column !== 'recorded' && phase !== 'nulls'
  const target = sql.ref(`${table.id}.${column}`)
  const compare = (op: RawBuilder<unknown>, value: number, row: number): RawBuilder<boolean> =>
    byColumn ? sql`(${target}, ${recorded}) ${op} (${value}, ${row})` : sql`${recorded} ${op} ${row}`
  const forward = direction === 'asc'
  let rows: Rows = scan.by === 'words' ? db.selectFrom(wordsTable(table.id)) : db.selectFrom(table.id)
  if (phase === 'values') rows = rows.where(sql<boolean>`${target} is not null`)
  if (phase === 'nulls') rows = rows.where(sql<boolean>`${target} is null`)
  if (after) rows = rows.where(compare(forward ? sql`>` : sql`<`, places.afterValue, places.afterRecorded))
  if (upto) rows = rows.where(compare(forward ? sql`<=` : sql`>=`, places.uptoValue, places.uptoRecorded))
  return rows
}

const pagedScan = (db: Db, table: Table, shape: Find, scan: FindPlan, stretch: ScanPhase): Rows => {
  const [column, direction] = shape.order
  const recorded = sql.ref(scan.by === 'words' ? `${wordsTable(table.id)}.rowid` : `${table.id}.recorded`)
  const rows = within(db, table, shape, scan, stretch)
  const ordered = column !== 'recorded' && stretch.phase !== 'nulls'
  return (ordered ? rows.orderBy(sql.ref(`${table.id}.${column}`), direction) : rows).orderBy(recorded, direction)
}

const matching = (table: Table, place: number): RawBuilder<boolean> =>
  sql`${sql.ref(wordsTable(table.id))} match ${place}`

const ends = (table: Table, [column]: Find['order'], recorded: RawBuilder<unknown>) => {
  const target = sql.ref(`${table.id}.${column}`)
  const exact = table.columns[column] === 'int64' ? sql`cast(${target} as text)` : target
  const value = column === 'recorded' ? sql`null` : exact
  return [sql`${value}`.as('order_value'), sql`${recorded}`.as('order_recorded')]
}

/** Where the stretch's `count`-th row (from 0) is: order value and `recorded`. Only tests that the index serves are applied. */
export const boundSql = (db: Db, table: Table, shape: Find, scan: FindPlan, stretch: ScanPhase) => {
  const rows = pagedScan(db, table, shape, scan, stretch)
  const { match, count } = phasesOf(shape)
  if (scan.by === 'words') {
    return rows
      .select(ends(table, shape.order, sql.ref(`${wordsTable(table.id)}.rowid`)))
      .where(matching(table, match))
      .limit(sql<number>`1`)
      .offset(count)
      .compile()
  }
  return rows
    .select(ends(table, shape.order, sql.ref(`${table.id}.recorded`)))
    .where(fixedTests(table, shape, scan))
    .limit(sql<number>`1`)
    .offset(count)
    .compile()
}

/** The tests that the index serves, each with its value's place among all. */
const fixedTests = (table: Table, { where, order }: Find, { held }: FindPlan): RawBuilder<boolean> => {
  const tests: RawBuilder<boolean>[] = []
  let place = 0
  for (const clause of where) {
    if (serves(held, order, clause)) tests.push(testsOf(table.id, [clause], place))
    if (takesValue(clause)) place++
  }
  return tests.length === 0 ? sql`true` : sql`${sql.join(tests, sql` and `)}`
}

/** Up to `count` rows of the stretch: all columns, then order value and `recorded`. */
export const pageSql = (db: Db, table: Table, shape: Find, scan: FindPlan, stretch: ScanPhase) => {
  const { match, count } = phasesOf(shape)
  const loose = (clause: Clause) => !scan.exact && !serves(scan.held, shape.order, clause)
  let rows = pagedScan(db, table, shape, scan, stretch)
  // a cross join keeps its order: tokens first, then the row of each
  if (scan.by === 'words') {
    rows = rows
      .crossJoin(table.id)
      .where(matching(table, match))
      .where(sql<boolean>`${sql.ref(`${table.id}.recorded`)} = ${sql.ref(`${wordsTable(table.id)}.rowid`)}`)
  } else if (shape.search) {
    rows = rows.where(
      sql<boolean>`+${sql.ref(`${table.id}.recorded`)} in (select rowid from ${sql.table(wordsTable(table.id))} where ${matching(table, match)})`,
    )
  }
  return rows
    .where(testsOf(table.id, shape.where, 0, loose))
    .select(selection(table))
    .select(ends(table, shape.order, sql.ref(`${table.id}.recorded`)))
    .limit(count)
    .compile()
}
