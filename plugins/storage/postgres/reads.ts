import type {
  AnyRow,
  AnyWhere,
  Column,
  DriverPage,
  DriverQuery,
  DriverReader,
  DriverSum,
  Group,
  Order,
  Position,
  Table,
} from 'guard-gateway/core'
import { type RawBuilder, sql } from 'kysely'
import { LRU } from 'tiny-lru'
import { type FindPlan, findPlanOf, serves } from '../kysely/find.ts'
import { type Compiled, compiled } from '../kysely/query.ts'
import { type Clause, storedColumns, takesValue } from '../kysely/shape.ts'
import type { Result, Statement } from './connection/statement.ts'
import { keyTest, testsOf, typed } from './sql/clauses.ts'
import { compiler as db } from './sql/compiler.ts'
import { Statements, unprepared } from './sql/statements.ts'
import { tsqueryOf } from './sql/tokens.ts'
import { clausesOf, fromPg, type PgValue, RowDecoder, toPg } from './sql/values.ts'

/** Searches that are known to find many rows. */
const MAX_COMMON = 100

/** Runs one statement that only reads. */
export type RunRead = (statement: Statement) => Promise<Result>

/** What the reads of all connections share: statements, decoders, and which searches find many rows. */
export class ReadCache {
  readonly statements = new Statements('r')
  readonly common = new LRU<true>(MAX_COMMON)
  readonly #decoders = new Map<string, RowDecoder>()

  decoder(table: Table): RowDecoder {
    let decoder = this.#decoders.get(table.id)
    if (decoder === undefined) {
      decoder = new RowDecoder(table)
      this.#decoders.set(table.id, decoder)
    }
    return decoder
  }
}

/** Reads rows, by whatever connection `run` uses. */
export class Reads implements DriverReader {
  readonly #run: RunRead
  readonly #cache: ReadCache

  constructor(run: RunRead, cache: ReadCache) {
    this.#run = run
    this.#cache = cache
  }

  async get(table: Table, key: readonly string[]): Promise<AnyRow | undefined> {
    const values = key.map((part) => toPg('key', 'text', part))
    const { rows } = await this.#run(this.#cache.statements.prepared(`get ${table.id}`, () => getSql(table), values))
    return rows[0] && this.#cache.decoder(table).row(rows[0])
  }

  async find(table: Table, query: DriverQuery): Promise<DriverPage> {
    const search = query.search.length === 0 ? 'none' : await this.#frequency(table, tsqueryOf(query.search))
    const scan = new Scan(table, query, search, this.#cache.decoder(table))
    for (;;) {
      const { rows } = await this.#run(scan.page(this.#cache.statements))
      const page = scan.add(rows)
      if (page !== undefined) return page
      const bound = scan.mayBeCut ? (await this.#run(scan.bound(this.#cache.statements))).rows[0] : undefined
      if (bound !== undefined) return scan.cutAt(bound)
      if (!scan.nextPhase()) return scan.whole()
    }
  }

  async sum(table: Table, { where, by, of }: DriverSum): Promise<readonly Group[]> {
    const values: PgValue[] = []
    const clauses = clausesOf(table, where, values)
    const { rows } = await this.#run(unprepared(sumSql(table, clauses, by, of), values))
    return rows.map((row) => groupOf(table, by, of, row))
  }

  /** How frequent the tokens are. What is common stays so for a while, such as for the next pages. */
  async #frequency(table: Table, tsquery: string): Promise<'rare' | 'common'> {
    const name = `${table.id} ${tsquery}`
    if (this.#cache.common.get(name) !== undefined) return 'common'
    const { rows } = await this.#run(unprepared(probeSql(table), [tsquery]))
    if (Number(rows[0]?.[0]) <= RARE) return 'rare'
    this.#cache.common.set(name, true)
    return 'common'
  }
}

const kindOf = ({ columns }: Table, name: string): Column => columns[name] ?? 'integer'

const groupOf = (table: Table, by: readonly string[], of: readonly string[], row: readonly PgValue[]): Group => ({
  by: Object.fromEntries(by.map((name, at) => [name, fromPg(kindOf(table, name), row[at] ?? null)])) as Group['by'],
  rows: Number(row[by.length]),
  sums: Object.fromEntries(of.map((name, at) => [name, Number(row[by.length + 1 + at])])) as Group['sums'],
})

/** One page of a query: rows with a value in the order column first, then those where it is null. */
class Scan {
  readonly #table: Table
  readonly #query: DriverQuery
  readonly #decoder: RowDecoder
  readonly #shape: FindShape
  readonly #plan: ReturnType<typeof findPlanOf>
  readonly #name: string
  readonly #values: PgValue[] = []
  readonly #rows: (readonly PgValue[])[] = []
  #phase: Stretch['phase']
  #after: Position | null

  constructor(table: Table, query: DriverQuery, search: FindShape['search'], decoder: RowDecoder) {
    const { where, order, after } = query
    const clauses = clausesOf(table, where, this.#values)
    this.#values.push(search === 'none' ? null : tsqueryOf(query.search))
    this.#table = table
    this.#query = query
    this.#decoder = decoder
    this.#shape = { where: clauses, order, search }
    // the tokens are one more test, and the planner chooses by which index
    this.#plan = findPlanOf(table, { kind: 'find', table: table.id, ...this.#shape, search: false })
    this.#name = `${table.id} ${order.join(' ')} ${clauses.join(' ')}`
    this.#after = after
    this.#phase = !this.#plan.nulls ? 'all' : after !== null && after.value === null ? 'nulls' : 'values'
  }

  page(statements: Statements): Statement {
    const count = this.#query.limit + 1
    return this.#statement(statements, `page ${count}`, (stretch) =>
      pageSql(this.#table, this.#shape, this.#plan, stretch, count),
    )
  }

  bound(statements: Statements): Statement {
    return this.#statement(statements, 'bound', (stretch) => boundSql(this.#table, this.#shape, this.#plan, stretch))
  }

  /** Adds rows of the present phase. Returns the page if it is complete. */
  add(rows: Result['rows']): DriverPage | undefined {
    const { limit } = this.#query
    for (const row of rows) this.#rows.push(row)
    if (this.#rows.length <= limit) return undefined
    this.#rows.length = limit
    const last = this.#rows.at(-1)
    return this.#made(last === undefined ? null : this.#position(last), false)
  }

  /** The statement may have ended before the stretch did. */
  get mayBeCut(): boolean {
    return mayBeCut(this.#shape, this.#plan)
  }

  /** Too many rows were examined; the page ends at this place. */
  cutAt([value = null, recorded = null]: readonly PgValue[]): DriverPage {
    return this.#made(this.#end(value, recorded), true)
  }

  nextPhase(): boolean {
    if (this.#phase !== 'values') return false
    this.#phase = 'nulls'
    this.#after = null
    return true
  }

  whole(): DriverPage {
    return this.#made(null, false)
  }

  #made(next: Position | null, truncated: boolean): DriverPage {
    return {
      rows: this.#rows.map((row) => this.#decoder.row(row)),
      positions: this.#rows.map((row) => this.#position(row)),
      next,
      truncated,
    }
  }

  #position(row: readonly PgValue[]): Position {
    return this.#end(row[this.#decoder.length] ?? null, row[this.#decoder.length + 1] ?? null)
  }

  #end(value: PgValue, recorded: PgValue): Position {
    const [column] = this.#query.order
    const exact = column === 'recorded' ? null : fromPg(kindOf(this.#table, column), value)
    return { value: exact as Position['value'], recorded: Number(recorded) }
  }

  #statement(statements: Statements, what: string, make: (stretch: Stretch) => ReturnType<typeof pageSql>): Statement {
    const stretch = { phase: this.#phase, after: this.#after !== null }
    const [column] = this.#query.order
    const value = column === 'recorded' ? null : toPg(column, kindOf(this.#table, column), this.#after?.value)
    const values = [...this.#values, value, String(this.#after?.recorded ?? 0)]
    if (this.#shape.search !== 'none') return unprepared(make(stretch), values)
    const name = `${what} ${stretch.phase} ${stretch.after} ${this.#name}`
    return statements.prepared(name, () => make(stretch), values)
  }
}

/** A condition of `remove`, with its values. */
export const whereOf = (table: Table, where: AnyWhere) => {
  const values: PgValue[] = []
  return { clauses: clausesOf(table, where, values), values }
}

/** What is asked, without the values. */
interface FindShape {
  readonly where: readonly Clause[]
  readonly order: Order
  /**
   * Whether tokens are looked for, and how many rows have them. The planner knows the frequent ones alone, and takes all others
   * for more frequent than they are: it would walk through a whole table for the few rows of a rare one.
   */
  readonly search: 'none' | 'rare' | 'common'
}

/** Which stretch of the order: rows whose order column has a value, those where it is null, or all where it never is; and whether after a row. */
interface Stretch {
  readonly phase: 'all' | 'values' | 'nulls'
  readonly after: boolean
}

/** Places of a query's values: those of its tests come first. */
const placesOf = ({ where }: Pick<FindShape, 'where'>) => {
  const first = where.filter(takesValue).length
  return { search: first, afterValue: first + 1, afterRecorded: first + 2 }
}

const columnsOf = (table: Table) => storedColumns(table).map(([name]) => sql.ref(`${table.id}.${name}`))

/** A query that Kysely's builder has no words for, ready to compile. */
const statement = (text: RawBuilder<unknown>): Compiled => compiled({ compile: () => text.compile(db) })

/** Values: the key. */
const getSql = (table: Table): Compiled =>
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
const mayBeCut = (shape: FindShape, plan: FindPlan): boolean =>
  shape.where.some((clause) => isLoose(shape, plan, clause))

/** More rows than this have a common token. */
const RARE = 1_000

/** How many rows have the tokens, at most one more than `RARE`. Value: the tsquery. */
const probeSql = (table: Table): Compiled =>
  statement(
    sql`select count(*) from (select 1 from ${sql.table(table.id)} where ${hasTokens(table, 0)} limit ${sql.lit(RARE + 1)}) as found`,
  )

const searchName = ({ columns }: Table): string => Object.keys(columns).find((name) => columns[name] === 'search') ?? ''

/** Rows examined for one page of a query that tests rows one by one, and of one that looks for tokens. */
const MAX_EXAMINED = 50_000
const MAX_SEARCHED = 10_000

const examinedBy = ({ search }: FindShape): number => (search === 'common' ? MAX_SEARCHED : MAX_EXAMINED)

const ends = (table: Table, [column]: Order) => [
  column === 'recorded' ? sql`null` : sql.ref(`${table.id}.${column}`),
  sql.ref(`${table.id}.recorded`),
]

/** Up to `count` rows of a stretch: all columns, then the value of the order column and `recorded`. */
const pageSql = (table: Table, shape: FindShape, plan: FindPlan, stretch: Stretch, count: number): Compiled => {
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
const boundSql = (table: Table, shape: FindShape, plan: FindPlan, stretch: Stretch): Compiled => {
  const { tests, order } = walked(table, shape, plan, stretch)
  const at = sql.lit(examinedBy(shape) - 1)
  return statement(
    sql`select ${sql.join(ends(table, shape.order))} from ${sql.table(table.id)} where ${tests} order by ${order} offset ${at} limit 1`,
  )
}

/** Groups of the rows that pass the tests: the values of `by`, how many rows, the sums of `of`. */
const sumSql = (table: Table, where: readonly Clause[], by: readonly string[], of: readonly string[]): Compiled => {
  const columns = by.map((name) => sql.ref(`${table.id}.${name}`))
  const sums = of.map((name) => sql`coalesce(sum(${sql.ref(`${table.id}.${name}`)}), 0)`)
  const grouped = columns.length === 0 ? sql`having count(*) > 0` : sql`group by ${sql.join(columns)}`
  return statement(
    sql`select ${sql.join([...columns, sql`count(*)`, ...sums])} from ${sql.table(table.id)} where ${testsOf(table, where, 0)} ${grouped}`,
  )
}
