import type { AnyRow, Table } from 'guard-gateway/core'
import { type Shape, type SqlValue, searchColumn, storedColumns } from '../kysely/shape.ts'
import { toSql, wordsOf } from '../kysely/values.ts'
import type { BatchValues } from './protocol.ts'

/** Columns that may be left out; with two more bits, a number holds which of them are there. */
const MAX_OPTIONAL = 50
/** Combinations of null columns that get statements of their own. */
const MAX_KINDS = 64

type Put = Extract<Shape, { readonly kind: 'put' }>

/**
 * Encodes whole rows of one table. A null column is left out of the statement, which makes it null as well:
 * wide rows are half empty, and a value that is neither copied nor bound costs nothing.
 */
export class Puts {
  readonly #table: Table
  readonly #columns: ReturnType<typeof storedColumns>
  readonly #search: string | undefined
  readonly #known = new Map<number, number>()
  readonly #number: (name: string, make: () => Put) => number

  constructor(table: Table, number: (name: string, make: () => Put) => number) {
    this.#table = table
    this.#columns = storedColumns(table)
    this.#search = searchColumn(table)
    this.#number = number
  }

  /** Appends the number of the row's shape and its values. */
  encode(row: AnyRow, absent: boolean, values: BatchValues): void {
    const words = this.#search === undefined ? null : wordsOf(row[this.#search])
    const all = this.#known.size >= MAX_KINDS
    const at = values.push(0) - 1
    let print = (absent ? 1 : 0) + (words === null ? 0 : 2)
    let bit = 4
    let place = 0
    for (const [name, kind] of this.#columns) {
      const value = toSql(kind, row[name])
      if (value !== null || all || place >= MAX_OPTIONAL) {
        values.push(value)
        if (place < MAX_OPTIONAL) print += bit
      }
      bit *= 2
      place++
    }
    if (words !== null) values.push(words)
    values[at] = this.#known.get(print) ?? this.#learn(print, row, absent, words, all)
  }

  #learn(print: number, row: AnyRow, absent: boolean, words: SqlValue, all: boolean): number {
    const there = ([name]: readonly [string, unknown], place: number) =>
      all || place >= MAX_OPTIONAL || (row[name] !== undefined && row[name] !== null)
    const columns = this.#columns.filter(there).map(([name]) => name)
    const shape: Put = { kind: 'put', table: this.#table.id, absent, words: words !== null, columns }
    const number = this.#number(`put ${shape.table} ${absent} ${shape.words} ${columns.join()}`, () => shape)
    this.#known.set(print, number)
    return number
  }
}
