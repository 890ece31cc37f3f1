import type { Statement } from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import { boundSql, pageSql, placesOf, type Scan, type Stretch, scanOf } from '../../kysely/find.ts'
import type { Shape, SqlValue } from '../../kysely/shape.ts'
import { sumSql, walkOf } from '../../kysely/sum.ts'
import { type RawPosition, rawEnd } from '../protocol.ts'
import { compiler } from './compiler.ts'
import type { Statements } from './statements.ts'

type FindShape = Extract<Shape, { readonly kind: 'find' }>
type SumShape = Extract<Shape, { readonly kind: 'sum' }>

interface Ready {
  readonly statement: Statement
  readonly take: readonly number[]
}

/** One kind of query, compiled as its stretches come up. */
export class Finder {
  readonly shape: FindShape
  readonly scan: Scan
  readonly exactValue: boolean
  readonly #given: FindShape | SumShape
  readonly #table: Table
  readonly #statements: Statements
  readonly #ready = new Map<string, Ready>()

  constructor(table: Table, shape: FindShape | SumShape, statements: Statements) {
    this.#given = shape
    this.shape = shape.kind === 'sum' ? walkOf(shape) : shape
    this.scan = scanOf(table, this.shape)
    this.exactValue = table.columns[shape.order[0]] === 'int64'
    this.#table = table
    this.#statements = statements
  }

  /** Where the stretch's last row stands, the rows of a page, or what the stretch comes to. */
  run(what: 'bound' | 'rows', stretch: Stretch, values: readonly (SqlValue | number)[]): SqlValue[][] {
    const { statement, take } = this.#of(what, stretch)
    return statement.raw().all(take.map((place) => values[place])) as SqlValue[][]
  }

  #of(what: 'bound' | 'rows', stretch: Stretch): Ready {
    const name = `${what} ${stretch.phase} ${stretch.after} ${stretch.upto}`
    const known = this.#ready.get(name)
    if (known !== undefined) return known
    const { sql, parameters } = what === 'bound' ? this.#bound(stretch) : this.#rows(stretch)
    const ready = { statement: this.#statements.get(sql), take: parameters as readonly number[] }
    this.#ready.set(name, ready)
    return ready
  }

  #bound(stretch: Stretch) {
    return boundSql(compiler, this.#table, this.shape, this.scan, stretch)
  }

  #rows(stretch: Stretch) {
    const given = this.#given
    return given.kind === 'sum'
      ? sumSql(compiler, this.#table, given, this.scan, stretch)
      : pageSql(compiler, this.#table, given, this.scan, stretch)
  }
}

/** How far a walk along the order of a query has come. */
export class Course {
  readonly #finder: Finder
  readonly #values: readonly SqlValue[]
  #after: RawPosition | null
  #phase: Stretch['phase']

  constructor(finder: Finder, values: readonly SqlValue[], after: RawPosition | null) {
    this.#finder = finder
    this.#values = values
    this.#after = after
    const first = after !== null && after.value === null ? 'nulls' : 'values'
    this.#phase = finder.scan.nulls ? first : 'all'
  }

  /** Where the `count`-th row from here stands; undefined: there are fewer. */
  bound(count: number): RawPosition | undefined {
    const [found] = this.#finder.run('bound', this.#stretch(undefined), this.#bind(undefined, count - 1))
    return found && rawEnd(found)
  }

  /** What the query gives between here and `end`, at most `count` rows where it gives rows. */
  rows(end: RawPosition | undefined, count: number): SqlValue[][] {
    return this.#finder.run('rows', this.#stretch(end), this.#bind(end, count))
  }

  /** Goes on behind `end`. */
  pass(end: RawPosition): void {
    this.#after = end
  }

  /** Goes on with the rows that have no value in the order's column; false: there are none of those to walk. */
  nextPhase(): boolean {
    if (this.#phase !== 'values') return false
    this.#phase = 'nulls'
    this.#after = null
    return true
  }

  #stretch(end: RawPosition | undefined): Stretch {
    return { phase: this.#phase, after: this.#after !== null, upto: end !== undefined }
  }

  #bind(end: RawPosition | undefined, count: number): (SqlValue | number)[] {
    const places = placesOf(this.#finder.shape)
    const bound = [...this.#values]
    const exact = (value: SqlValue | undefined) =>
      this.#finder.exactValue && typeof value === 'string' ? BigInt(value) : (value ?? null)
    bound[places.afterValue] = exact(this.#after?.value)
    bound[places.afterRecorded] = this.#after?.recorded ?? null
    bound[places.uptoValue] = exact(end?.value)
    bound[places.uptoRecorded] = end?.recorded ?? null
    bound[places.count] = count
    return bound
  }
}
