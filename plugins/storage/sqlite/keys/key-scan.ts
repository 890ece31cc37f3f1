import type { Table } from 'guard-gateway/core'
import { keysSql, mostRowsSql } from '../../kysely/query.ts'
import { compiler } from '../worker/compiler.ts'
import type { Statements } from '../worker/statements.ts'
import { BloomFilter, filterBits } from './bloom-filter.ts'

/** Keys that one step reads. */
const STEP_KEYS = 10_000

/** Reads all keys of a table, in steps, so that other work is done in between. */
export class KeyScan {
  readonly #statements: Statements
  readonly #sql: string
  readonly #filter: BloomFilter
  #last = ''

  constructor(table: Table, statements: Statements) {
    const max = statements.get(mostRowsSql(compiler, table).sql).pluck().get()
    this.#statements = statements
    this.#sql = keysSql(compiler, table).sql
    this.#filter = new BloomFilter(filterBits(Number(max ?? 0)))
  }

  /** Does one step. Returns the bits of a filter with all keys; undefined if more keys are left to read. */
  step(): Uint8Array | undefined {
    const keys = this.#statements.get(this.#sql).pluck().all(this.#last, STEP_KEYS) as string[]
    for (const key of keys) this.#filter.add(key)
    this.#last = keys.at(-1) ?? this.#last
    return keys.length < STEP_KEYS ? this.#filter.bits : undefined
  }
}
