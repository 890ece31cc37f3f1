import type { SqlValue } from '../../kysely/shape.ts'
import type { Ask } from '../protocol.ts'
import { Course, type Finder } from './finder.ts'

type SumAsk = Extract<Ask, { readonly kind: 'sum' }>

/** Rows added up in one step. */
const TURN = 5_000

/** One sum under way: each step adds up a bounded number of rows, so that a commit never waits for all of them. */
export class SumWalk {
  readonly #course: Course
  /** How many values of a group come before its figures. */
  readonly #by: number
  readonly #groups = new Map<string, SqlValue[]>()

  constructor(finder: Finder, { values, by }: SumAsk) {
    this.#course = new Course(finder, values, null)
    this.#by = by
  }

  /** The groups when all rows are in them, else undefined. */
  step(): readonly (readonly SqlValue[])[] | undefined {
    const end = this.#course.bound(TURN)
    for (const group of this.#course.rows(end, 0)) this.#add(group)
    if (end !== undefined) this.#course.pass(end)
    else if (!this.#course.nextPhase()) return [...this.#groups.values()]
    return undefined
  }

  #add(group: SqlValue[]): void {
    const name = JSON.stringify(group.slice(0, this.#by))
    const known = this.#groups.get(name)
    if (known === undefined) this.#groups.set(name, group)
    else for (let at = this.#by; at < group.length; at++) known[at] = Number(known[at]) + Number(group[at])
  }
}
