import type { Statement } from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import { sql } from 'kysely'
import {
  boundSql,
  type FindPlan,
  findPlanOf,
  pageSql,
  phasesOf,
  type ScanPhase,
  serves,
  within,
} from '../../kysely/find.ts'
import { testsOf } from '../../kysely/query.ts'
import type { Db } from '../../kysely/schema.ts'
import type { Clause, Shape, SqlValue } from '../../kysely/shape.ts'
import { type RawPosition, rawEnd } from '../protocol.ts'
import { compiler } from './compiler.ts'
import type { Statements } from './statements.ts'

type FindShape = Extract<Shape, { readonly kind: 'find' }>
type SumShape = Extract<Shape, { readonly kind: 'sum' }>

interface PreparedQuery {
  readonly statement: Statement
  readonly take: readonly number[]
}

/** One shape of query. Its statements are compiled when a scan first needs them. */
export class CompiledQuery {
  readonly shape: FindShape
  readonly scan: FindPlan
  readonly exactValue: boolean
  readonly #shape: FindShape | SumShape
  readonly #table: Table
  readonly #statements: Statements
  readonly #prepared = new Map<string, PreparedQuery>()

  constructor(table: Table, shape: FindShape | SumShape, statements: Statements) {
    this.#shape = shape
    this.shape = shape.kind === 'sum' ? sumScanOf(shape) : shape
    this.scan = findPlanOf(table, this.shape)
    this.exactValue = table.columns[shape.order[0]] === 'int64'
    this.#table = table
    this.#statements = statements
  }

  /** Runs the statement for one range of the scan: `bound` gives the position of its last row, `rows` the rows of a page or the sums. */
  run(what: 'bound' | 'rows', stretch: ScanPhase, values: readonly (SqlValue | number)[]): SqlValue[][] {
    const { statement, take } = this.#statement(what, stretch)
    return statement.raw().all(take.map((place) => values[place])) as SqlValue[][]
  }

  #statement(what: 'bound' | 'rows', stretch: ScanPhase): PreparedQuery {
    const name = `${what} ${stretch.phase} ${stretch.after} ${stretch.upto}`
    const cached = this.#prepared.get(name)
    if (cached !== undefined) return cached
    const { sql, parameters } = what === 'bound' ? this.#bound(stretch) : this.#rows(stretch)
    const prepared = { statement: this.#statements.get(sql), take: parameters as readonly number[] }
    this.#prepared.set(name, prepared)
    return prepared
  }

  #bound(stretch: ScanPhase) {
    return boundSql(compiler, this.#table, this.shape, this.scan, stretch)
  }

  #rows(stretch: ScanPhase) {
    const shape = this.#shape
    return shape.kind === 'sum'
      ? sumSql(compiler, this.#table, shape, this.scan, stretch)
      : pageSql(compiler, this.#table, shape, this.scan, stretch)
  }
}

/** A cursor of a scan along the order of a query. */
export class ScanCursor {
  readonly #query: CompiledQuery
  readonly #values: readonly SqlValue[]
  #after: RawPosition | null
  #phase: ScanPhase['phase']

  constructor(query: CompiledQuery, values: readonly SqlValue[], after: RawPosition | null) {
    this.#query = query
    this.#values = values
    this.#after = after
    const first = after !== null && after.value === null ? 'nulls' : 'values'
    this.#phase = query.scan.nulls ? first : 'all'
  }

  /** The position of the `count`-th row after the cursor; undefined if fewer rows follow. */
  bound(count: number): RawPosition | undefined {
    const [found] = this.#query.run('bound', this.#stretch(undefined), this.#bind(undefined, count - 1))
    return found && rawEnd(found)
  }

  /** The result of the query between the cursor and `end`; at most `count` rows if it gives rows. */
  rows(end: RawPosition | undefined, count: number): SqlValue[][] {
    return this.#query.run('rows', this.#stretch(end), this.#bind(end, count))
  }

  /** Moves the cursor after `end`. */
  advance(end: RawPosition): void {
    this.#after = end
  }

  /** Continues with the rows whose order column is null, which come last; false if the order has no such rows, or they are done. */
  nextPhase(): boolean {
    if (this.#phase !== 'values') return false
    this.#phase = 'nulls'
    this.#after = null
    return true
  }

  #stretch(end: RawPosition | undefined): ScanPhase {
    return { phase: this.#phase, after: this.#after !== null, upto: end !== undefined }
  }

  #bind(end: RawPosition | undefined, count: number): (SqlValue | number)[] {
    const places = phasesOf(this.#query.shape)
    const bound = [...this.#values]
    const exact = (value: SqlValue | undefined) =>
      this.#query.exactValue && typeof value === 'string' ? BigInt(value) : (value ?? null)
    bound[places.afterValue] = exact(this.#after?.value)
    bound[places.afterRecorded] = this.#after?.recorded ?? null
    bound[places.uptoValue] = exact(end?.value)
    bound[places.uptoRecorded] = end?.recorded ?? null
    bound[places.count] = count
    return bound
  }
}

/** The query that walks the rows of a sum. */
const sumScanOf = ({ by: _by, of: _of, ...walked }: SumShape) => ({ ...walked, kind: 'find', search: false }) as const

/** What the rows of a stretch come to: the values of `by`, how many rows, then the sums of `of`. */
const sumSql = (db: Db, table: Table, shape: SumShape, scan: FindPlan, stretch: ScanPhase) => {
  const loose = (clause: Clause) => !serves(scan.held, shape.order, clause)
  const columns = shape.by.map((name) => sql.ref(`${table.id}.${name}`))
  const rows = within(db, table, sumScanOf(shape), scan, stretch)
    .where(testsOf(table.id, shape.where, 0, loose))
    .select([
      ...columns.map((column, at) => sql`${column}`.as(`by_${at}`)),
      sql`count(*)`.as('rows'),
      ...shape.of.map((name, at) => sql`coalesce(sum(${sql.ref(`${table.id}.${name}`)}), 0)`.as(`sum_${at}`)),
    ])
  return (columns.length === 0 ? rows.having(sql<boolean>`count(*) > 0`) : rows.groupBy(columns)).compile()
}
