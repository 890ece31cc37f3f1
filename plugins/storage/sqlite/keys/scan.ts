import type { Table } from 'guard-gateway/core'
import { keysSql, mostRowsSql } from '../../kysely/query.ts'
import { compiler } from '../worker/compiler.ts'
import type { Statements } from '../worker/statements.ts'
import { filterFor, KeyFilter } from './filter.ts'

/** Keys that are read in one step. */
const STEP = 10_000

/** Reads through the keys of a table, in steps between which other work is done. */
export class KeyScan {
  readonly #statements: Statements
  readonly #sql: string
  readonly #filter: KeyFilter
  #last = ''

  constructor(table: Table, statements: Statements) {
    const most = statements.get(mostRowsSql(compiler, table).sql).pluck().get()
    this.#statements = statements
    this.#sql = keysSql(compiler, table).sql
    this.#filter = new KeyFilter(filterFor(Number(most ?? 0)))
  }

  /** The bits of a filter that has all keys; undefined if there are more to read. */
  step(): Uint8Array | undefined {
    const keys = this.#statements.get(this.#sql).pluck().all(this.#last, STEP) as string[]
    for (const key of keys) this.#filter.add(key)
    this.#last = keys.at(-1) ?? this.#last
    return keys.length < STEP ? this.#filter.bits : undefined
  }
}
