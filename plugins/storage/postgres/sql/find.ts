import type { Order, Table } from 'guard-gateway/core'
import { type RawBuilder, sql } from 'kysely'
import { type FindPlan, serves } from '../../kysely/find.ts'
import { type Clause, storedColumns, takesValue } from '../../kysely/shape.ts'
import { type Compiled, compiled, keyTest, testsOf, typed } from './clauses.ts'
import { compiler as db } from './compiler.ts'

/** What is asked, without the values. */
export interface FindShape {
  readonly where: readonly Clause[]
  readonly order: Order
  /**
   * Whether tokens are looked for, and how many rows have them. The planner knows the frequent ones alone, and takes all others
   * for more frequent than they are: it would walk through a whole table for the few rows of a rare one.
   */
  readonly search: 'none' | 'rare' | 'common'
}

/** Which stretch of the order: rows whose order column has a value, those where it is null, or all where it never is; and whether after a row. */
export interface Stretch {
  readonly phase: 'all' | 'values' | 'nulls'
  readonly after: boolean
}

/** Places of a query's values: those of its tests come first. */
export const placesOf = ({ where }: Pick<FindShape, 'where'>) => {
  const first = where.filter(takesValue).length
  return { search: first, afterValue: first + 1, afterRecorded: first + 2 }
}

const columnsOf = (table: Table) => storedColumns(table).map(([name]) => sql.ref(`${table.id}.${name}`))

/** A query that Kysely's builder has no words for, ready to compile. */
const statement = (text: RawBuilder<unknown>): Compiled => compiled({ compile: () => text.compile(db) })

/** Values: the key. */
export const getSql = (table: Table): Compiled =>
  statement(sql`select ${sql.join(columnsOf(table))} from ${sql.table(table.id)} where ${keyTest(table, 0)}`)

/** The rows of a stretch that pass the tests which the index serves, in order. */
const walked = (table: Table, shape: FindShape, plan: FindPlan, { phase, after }: Stretch) => {
  const [column, direction] = shape.order
  const places = placesOf(shape)
  const recorded = sql.ref(`${table.id}.recorded`)
  const target = sql.ref(`${table.id}.${column}`)
  const byColumn = column !== 'recorded' && phase !== 'nulls'
  const op = direction === 'asc' ? sql`>` : sql`<`
  const value = typed(places.afterValue, table.columns[column] ?? 'integer')
  const row = typed(places.afterRecorded, 'int64')
  const tests = [testsOf(table, shape.where, 0, (clause) => !isLoose(shape, plan, clause))]
  if (shape.search === 'common') tests.push(hasTokens(table, places.search))
  if (phase === 'values') tests.push(sql`${target} is not null`)
  if (phase === 'nulls') tests.push(sql`${target} is null`)
  if (after)
    tests.push(byColumn ? sql`(${target}, ${recorded}) ${op} (${value}, ${row})` : sql`${recorded} ${op} ${row}`)
  const way = sql.raw(direction)
  const order = byColumn ? sql`${target} ${way}, ${recorded} ${way}` : sql`${recorded} ${way}`
  return { tests: sql.join(tests, sql` and `), order }
}

const hasTokens = (table: Table, place: number): RawBuilder<boolean> =>
  sql`${sql.ref(`${table.id}.${searchName(table)}`)} @@ ${place}::tsquery`

/** Whether the rows are tested one by one after the index has found them. Of the few with a rare token no index is asked. */
const isLoose = ({ search, order }: FindShape, plan: FindPlan, clause: Clause): boolean =>
  search !== 'rare' && !plan.exact && !serves(plan.held, order, clause)

/** Whether a page may end early, because too many rows were examined. */
export const mayBeCut = (shape: FindShape, plan: FindPlan): boolean =>
  shape.where.some((clause) => isLoose(shape, plan, clause))

/** More rows than this have a common token. */
export const RARE = 1_000

/** How many rows have the tokens, at most one more than `RARE`. Value: the tsquery. */
export const probeSql = (table: Table): Compiled =>
  statement(
    sql`select count(*) from (select 1 from ${sql.table(table.id)} where ${hasTokens(table, 0)} limit ${sql.lit(RARE + 1)}) as found`,
  )

const searchName = ({ columns }: Table): string => Object.keys(columns).find((name) => columns[name] === 'search') ?? ''

/** Rows examined for one page of a query that tests rows one by one, and of one that looks for tokens. */
export const MAX_EXAMINED = 50_000
export const MAX_SEARCHED = 10_000

export const examinedBy = ({ search }: FindShape): number => (search === 'common' ? MAX_SEARCHED : MAX_EXAMINED)

const ends = (table: Table, [column]: Order) => [
  column === 'recorded' ? sql`null` : sql.ref(`${table.id}.${column}`),
  sql.ref(`${table.id}.recorded`),
]

/** Up to `count` rows of a stretch: all columns, then the value of the order column and `recorded`. */
export const pageSql = (table: Table, shape: FindShape, plan: FindPlan, stretch: Stretch, count: number): Compiled => {
  const { tests, order } = walked(table, shape, plan, stretch)
  const columns = sql.join([...columnsOf(table), ...ends(table, shape.order)])
  const name = sql.table(table.id)
  const rest = sql`order by ${order} limit ${sql.lit(count)}`
  if (shape.search === 'rare') {
    const rows = sql`select * from ${name} where ${hasTokens(table, placesOf(shape).search)}`
    return statement(sql`with ${name} as materialized (${rows}) select ${columns} from ${name} where ${tests} ${rest}`)
  }
  if (!mayBeCut(shape, plan)) return statement(sql`select ${columns} from ${name} where ${tests} ${rest}`)
  // the inner query walks the index and ends, however few rows pass the other tests
  const inner = sql`select * from ${name} where ${tests} order by ${order} limit ${sql.lit(examinedBy(shape))}`
  const loose = testsOf(table, shape.where, 0, (clause) => isLoose(shape, plan, clause))
  return statement(sql`select ${columns} from (${inner}) as ${name} where ${loose} ${rest}`)
}

/** The place of the last row that `pageSql` examines: the value of the order column and `recorded`; no row if it examines fewer. */
export const boundSql = (table: Table, shape: FindShape, plan: FindPlan, stretch: Stretch): Compiled => {
  const { tests, order } = walked(table, shape, plan, stretch)
  const at = sql.lit(examinedBy(shape) - 1)
  return statement(
    sql`select ${sql.join(ends(table, shape.order))} from ${sql.table(table.id)} where ${tests} order by ${order} offset ${at} limit 1`,
  )
}

/** Groups of the rows that pass the tests: the values of `by`, how many rows, the sums of `of`. */
export const sumSql = (
  table: Table,
  where: readonly Clause[],
  by: readonly string[],
  of: readonly string[],
): Compiled => {
  const columns = by.map((name) => sql.ref(`${table.id}.${name}`))
  const sums = of.map((name) => sql`coalesce(sum(${sql.ref(`${table.id}.${name}`)}), 0)`)
  const grouped = columns.length === 0 ? sql`having count(*) > 0` : sql`group by ${sql.join(columns)}`
  return statement(
    sql`select ${sql.join([...columns, sql`count(*)`, ...sums])} from ${sql.table(table.id)} where ${testsOf(table, where, 0)} ${grouped}`,
  )
}
