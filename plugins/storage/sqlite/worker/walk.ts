import type { Statement } from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import { boundSql, pageSql, placesOf, type Scan, type Stretch, scanOf } from '../../kysely/find.ts'
import type { Shape, SqlValue } from '../../kysely/shape.ts'
import { type Ask, type RawPage, type RawPosition, rawEnd } from '../protocol.ts'
import { compiler } from './compiler.ts'
import type { Statements } from './statements.ts'

type FindShape = Extract<Shape, { readonly kind: 'find' }>
type FindAsk = Extract<Ask, { readonly kind: 'find' }>

/** Rows walked in the first turn of a query that tests rows one by one, in each later turn, and for one page. */
const FIRST_TURN = 500
const TURN = 5_000
const PAGE = 50_000
/** The same where rows are found by their words: each is looked up on its own. */
const WORDS_PAGE = 10_000

interface Ready {
  readonly statement: Statement
  readonly take: readonly number[]
}

/** One kind of query, compiled as its stretches come up. */
export class Finder {
  readonly shape: FindShape
  readonly scan: Scan
  readonly exactValue: boolean
  readonly #table: Table
  readonly #statements: Statements
  readonly #ready = new Map<string, Ready>()

  constructor(table: Table, shape: FindShape, statements: Statements) {
    this.shape = shape
    this.scan = scanOf(table, shape)
    this.exactValue = table.columns[shape.order[0]] === 'int64'
    this.#table = table
    this.#statements = statements
  }

  run(what: 'page' | 'bound', stretch: Stretch, values: readonly (SqlValue | number)[]): SqlValue[][] {
    const { statement, take } = this.#of(what, stretch)
    return statement.raw().all(take.map((place) => values[place])) as SqlValue[][]
  }

  #of(what: 'page' | 'bound', stretch: Stretch): Ready {
    const name = `${what} ${stretch.phase} ${stretch.after} ${stretch.upto}`
    const known = this.#ready.get(name)
    if (known !== undefined) return known
    const make = what === 'page' ? pageSql : boundSql
    const { sql, parameters } = make(compiler, this.#table, this.shape, this.scan, stretch)
    const ready = { statement: this.#statements.get(sql), take: parameters as readonly number[] }
    this.#ready.set(name, ready)
    return ready
  }
}

/** One query under way: each step walks a bounded number of rows, so that a commit never waits for a long read. */
export class Walk {
  readonly #finder: Finder
  readonly #values: readonly SqlValue[]
  readonly #limit: number
  readonly #rows: SqlValue[][] = []
  #after: RawPosition | null
  #phase: Stretch['phase']
  #walked = 0

  constructor(finder: Finder, { values, after, limit }: FindAsk) {
    this.#finder = finder
    this.#values = values
    this.#limit = limit
    this.#after = after
    const first = after !== null && after.value === null ? 'nulls' : 'values'
    this.#phase = finder.scan.nulls ? first : 'all'
  }

  /** The page when it is complete, else undefined. */
  step(): RawPage | undefined {
    const turn = this.#walked === 0 ? FIRST_TURN : TURN
    const end = this.#finder.scan.exact ? undefined : this.#bound(turn)
    this.#rows.push(
      ...this.#finder.run('page', this.#stretch(end), this.#bind(end, this.#limit - this.#rows.length + 1)),
    )
    if (this.#rows.length > this.#limit) return this.#page()
    if (end === undefined) return this.#nextPhase()
    this.#walked += turn
    this.#after = end
    const most = this.#finder.scan.by === 'words' ? WORDS_PAGE : PAGE
    return this.#walked < most ? undefined : { rows: this.#rows, next: end, truncated: true }
  }

  #page(): RawPage {
    this.#rows.length = this.#limit
    const last = this.#rows.at(-1)
    return { rows: this.#rows, next: last === undefined ? null : rawEnd(last), truncated: false }
  }

  #nextPhase(): RawPage | undefined {
    if (this.#phase !== 'values') return { rows: this.#rows, next: null, truncated: false }
    this.#phase = 'nulls'
    this.#after = null
    return undefined
  }

  #bound(turn: number): RawPosition | undefined {
    const [found] = this.#finder.run('bound', this.#stretch(undefined), this.#bind(undefined, turn - 1))
    return found && rawEnd(found)
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
