import type { AnyRow, Column, DriverChange, Table } from 'guard-gateway/core'
import { type Clause, type Shape, searchColumn } from '../../kysely/shape.ts'
import { clausesOf, toSql, wordsOf } from '../../kysely/values.ts'
import type { BatchValues } from '../protocol.ts'

type Patch = Extract<DriverChange, { readonly kind: 'patch' }>

interface Columns {
  readonly names: readonly string[]
  readonly kinds: readonly Column[]
  /** The number of the shape that changes exactly these columns without a condition. */
  number?: number
}

/** The conditions of a shape as text, for its name. */
export const clauseName = (clauses: readonly Clause[]): string =>
  clauses.map(([column, op]) => `${column} ${op}`).join()

const hasExactly = (changes: AnyRow, names: readonly string[]): boolean => {
  let index = 0
  for (const name in changes) if (names[index++] !== name || changes[name] === undefined) return false
  return index === names.length
}

/** Encodes the patches of one table. Most change the same columns as the patch before. */
export class PatchEncoder {
  readonly #table: Table
  readonly #search: string | undefined
  readonly #number: (name: string, make: () => Shape) => number
  #last: Columns = { names: [], kinds: [] }

  constructor(table: Table, number: (name: string, make: () => Shape) => number) {
    this.#table = table
    this.#search = searchColumn(table)
    this.#number = number
  }

  /** Appends the number of the patch's shape, and its values. */
  encode({ key, changes, expected }: Patch, values: BatchValues): void {
    const at = values.push(0) - 1
    if (!hasExactly(changes, this.#last.names)) this.#last = this.#columnsOf(changes)
    const columns = this.#last
    for (let index = 0; index < columns.names.length; index++)
      values.push(toSql(columns.kinds[index] ?? 'text', changes[columns.names[index] ?? '']))
    for (const part of key) values.push(part)
    const clauses = clausesOf(this.#table, expected, values)
    const tokens = this.#search === undefined ? undefined : changes[this.#search]
    if (tokens === undefined && clauses.length === 0) {
      columns.number ??= this.#shape(columns, 'keep', clauses)
      values[at] = columns.number
      return
    }
    const text = wordsOf(tokens)
    if (text !== null) values.push(text)
    values[at] = this.#shape(columns, tokens === undefined ? 'keep' : text === null ? 'clear' : 'set', clauses)
  }

  #columnsOf(changes: AnyRow): Columns {
    const names = Object.keys(changes).filter((name) => name !== this.#search && changes[name] !== undefined)
    return { names, kinds: names.map((name) => this.#table.columns[name] ?? 'text') }
  }

  #shape({ names }: Columns, words: 'keep' | 'clear' | 'set', expected: readonly Clause[]): number {
    const { id } = this.#table
    return this.#number(`patch ${id} ${words} ${names.join()} ${clauseName(expected)}`, () => ({
      kind: 'patch',
      table: id,
      columns: names,
      words,
      expected,
    }))
  }
}
