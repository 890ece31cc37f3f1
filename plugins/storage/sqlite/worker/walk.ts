import type { SqlValue } from '../../kysely/shape.ts'
import { type Ask, type RawPage, rawEnd } from '../protocol.ts'
import { Course, type Finder } from './finder.ts'

type FindAsk = Extract<Ask, { readonly kind: 'find' }>

/** Rows walked in the first turn of a query that tests rows one by one, in each later turn, and for one page. */
const FIRST_TURN = 500
const TURN = 5_000
const PAGE = 50_000
/** The same where rows are found by their words: each is looked up on its own. */
const WORDS_PAGE = 10_000

/** One query under way: each step walks a bounded number of rows, so that a commit never waits for a long read. */
export class Walk {
  readonly #finder: Finder
  readonly #course: Course
  readonly #limit: number
  readonly #rows: SqlValue[][] = []
  #walked = 0

  constructor(finder: Finder, { values, after, limit }: FindAsk) {
    this.#finder = finder
    this.#course = new Course(finder, values, after)
    this.#limit = limit
  }

  /** The page when it is complete, else undefined. */
  step(): RawPage | undefined {
    const turn = this.#walked === 0 ? FIRST_TURN : TURN
    const end = this.#finder.scan.exact ? undefined : this.#course.bound(turn)
    this.#rows.push(...this.#course.rows(end, this.#limit - this.#rows.length + 1))
    if (this.#rows.length > this.#limit) return this.#page()
    if (end === undefined) return this.#course.nextPhase() ? undefined : this.#last()
    this.#walked += turn
    this.#course.pass(end)
    const most = this.#finder.scan.by === 'words' ? WORDS_PAGE : PAGE
    return this.#walked < most ? undefined : { rows: this.#rows, next: end, truncated: true }
  }

  #page(): RawPage {
    this.#rows.length = this.#limit
    const last = this.#rows.at(-1)
    return { rows: this.#rows, next: last === undefined ? null : rawEnd(last), truncated: false }
  }

  #last(): RawPage {
    return { rows: this.#rows, next: null, truncated: false }
  }
}
