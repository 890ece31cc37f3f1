import type { SqlValue } from '../../kysely/shape.ts'
import type { WorkerQuery } from '../protocol.ts'
import { type CompiledQuery, ScanCursor } from './compiled-query.ts'

type SumQuery = Extract<WorkerQuery, { readonly kind: 'sum' }>

/** Rows that one step adds up. */
const STEP_ROWS = 5_000

/** A sum that is running. Each step adds up a limited number of rows, so that no commit waits for all of them. */
export class SumScan {
  readonly #cursor: ScanCursor
  /** How many values of a group come before its sums. */
  readonly #by: number
  readonly #groups = new Map<string, SqlValue[]>()

  constructor(query: CompiledQuery, { values, by }: SumQuery) {
    this.#cursor = new ScanCursor(query, values, null)
    this.#by = by
  }

  /** Does one step. Returns the groups when all rows are added up, else undefined. */
  step(): readonly (readonly SqlValue[])[] | undefined {
    const end = this.#cursor.bound(STEP_ROWS)
    for (const group of this.#cursor.rows(end, 0)) this.#add(group)
    if (end !== undefined) this.#cursor.advance(end)
    else if (!this.#cursor.nextPhase()) return [...this.#groups.values()]
    return undefined
  }

  #add(group: SqlValue[]): void {
    const name = JSON.stringify(group.slice(0, this.#by))
    const known = this.#groups.get(name)
    if (known === undefined) this.#groups.set(name, group)
    else for (let at = this.#by; at < group.length; at++) known[at] = Number(known[at]) + Number(group[at])
  }
}
