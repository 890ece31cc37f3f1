import type {
  AnyRow,
  AnyWhere,
  Column,
  DriverPage,
  DriverQuery,
  DriverReader,
  DriverSum,
  Group,
  Position,
  Table,
} from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { findPlanOf } from '../kysely/find.ts'
import type { Result, Statement } from './connection/statement.ts'
import {
  boundSql,
  type FindShape,
  getSql,
  mayBeCut,
  pageSql,
  probeSql,
  RARE,
  type Stretch,
  sumSql,
} from './sql/find.ts'
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
