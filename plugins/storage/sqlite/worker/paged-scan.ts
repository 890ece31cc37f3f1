import type { SqlValue } from '../../kysely/shape.ts'
import { type RawPage, rawEnd, type WorkerQuery } from '../protocol.ts'
import { type CompiledQuery, ScanCursor } from './compiled-query.ts'

type FindQuery = Extract<WorkerQuery, { readonly kind: 'find' }>

/** Rows examined in the first step of a query that tests rows one by one, in each later step, and for one page. */
const FIRST_STEP_ROWS = 500
const STEP_ROWS = 5_000
const MAX_PAGE_ROWS = 50_000
/** Rows examined for one page of a token search, which looks each row up separately. */
const MAX_SEARCH_ROWS = 10_000

/** A query that is running. Each step examines a limited number of rows, so that no commit waits for a long read. */
export class PagedScan {
  readonly #query: CompiledQuery
  readonly #cursor: ScanCursor
  readonly #limit: number
  readonly #rows: SqlValue[][] = []
  #scanned = 0

  constructor(query: CompiledQuery, { values, after, limit }: FindQuery) {
    this.#query = query
    this.#cursor = new ScanCursor(query, values, after)
    this.#limit = limit
  }

  /** Does one step. Returns the page when it is complete, else undefined. */
  step(): RawPage | undefined {
    const count = this.#scanned === 0 ? FIRST_STEP_ROWS : STEP_ROWS
    const end = this.#query.scan.exact ? undefined : this.#cursor.bound(count)
    this.#rows.push(...this.#cursor.rows(end, this.#limit - this.#rows.length + 1))
    if (this.#rows.length > this.#limit) return this.#page()
    if (end === undefined) return this.#cursor.nextPhase() ? undefined : this.#lastPage()
    this.#scanned += count
    this.#cursor.advance(end)
    const most = this.#query.scan.by === 'words' ? MAX_SEARCH_ROWS : MAX_PAGE_ROWS
    return this.#scanned < most ? undefined : { rows: this.#rows, next: end, truncated: true }
  }

  #page(): RawPage {
    this.#rows.length = this.#limit
    const last = this.#rows.at(-1)
    return { rows: this.#rows, next: last === undefined ? null : rawEnd(last), truncated: false }
  }

  #lastPage(): RawPage {
    return { rows: this.#rows, next: null, truncated: false }
  }
}
