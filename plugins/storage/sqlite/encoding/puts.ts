import type { AnyRow, Column, Table } from 'guard-gateway/core'
import { type Constant, keyOf, type Shape, searchColumn, storedColumns } from '../../kysely/shape.ts'
import { toSql, wordsOf } from '../../kysely/values.ts'
import type { BatchValues } from '../protocol.ts'

/** Kinds that a row is compared with, the one used last first. */
const MAX_KINDS = 32
/** Kinds that get statements of their own while the process lives. */
const MAX_LEARNT = 500
/** Texts that may stand in a statement. */
const CONSTANT_TEXT = /^[ -~]{0,64}$/

/** Stands for a value that each row brings along. */
const OWN = Symbol('own')
const EMPTY_LIST: readonly unknown[] = []

/** Values by place, in the order of the stored columns. */
type Cells = readonly unknown[]
type Put = Extract<Shape, { readonly kind: 'put' }>

/** Rows that agree in some columns: `same` holds what they share, by place. */
interface Kind {
  readonly number: number
  readonly absent: boolean
  readonly words: boolean
  readonly same: Cells
}

const isAlike = (value: unknown, same: unknown): boolean =>
  same === null ? value === undefined : same === EMPTY_LIST && Array.isArray(value) && value.length === 0

const mayStandInText = (value: unknown): boolean =>
  typeof value === 'string' ? CONSTANT_TEXT.test(value) : typeof value === 'boolean' || Number.isSafeInteger(value)

/** What a row's value may share with others; OWN if that is nothing. */
const sharedOf = (value: unknown, kind: Column, isRepeated: boolean): unknown => {
  if (value === null || value === undefined) return null
  if (kind === 'json') return isAlike(value, EMPTY_LIST) ? EMPTY_LIST : OWN
  if ((kind === 'integer' && value === 0) || (kind === 'boolean' && value === false)) return value
  return isRepeated && mayStandInText(value) ? value : OWN
}

/**
 * Encodes whole rows of one table. What rows like the last ones share stands in the statement's text, and what is null is left out
 * of it: wide rows are half empty and half repetition, and a value that is neither copied nor bound costs nothing.
 */
export class Puts {
  readonly #table: Table
  readonly #columns: readonly { readonly name: string; readonly kind: Column }[]
  readonly #repeated: ReadonlySet<string>
  readonly #search: string | undefined
  readonly #number: (name: string, make: () => Put) => number
  readonly #kinds: Kind[] = []
  #learnt = 0
  /** What the last row of no known kind might share with others: the second one like it makes a kind. */
  #last: Cells = []

  constructor(table: Table, number: (name: string, make: () => Put) => number) {
    const key = keyOf(table)
    this.#table = table
    this.#columns = storedColumns(table).map(([name, kind]) => ({ name, kind }))
    this.#repeated = new Set(table.repeated?.filter((name) => !key.includes(name)))
    this.#search = searchColumn(table)
    this.#number = number
  }

  /** Appends the number of the row's shape and its values. */
  encode(row: AnyRow, absent: boolean, values: BatchValues): void {
    const words = this.#search === undefined ? null : wordsOf(row[this.#search])
    const cells = this.#cellsOf(row)
    const at = values.push(0) - 1
    values[at] =
      this.#encodeAs(cells, absent, words !== null, values) ?? this.#encodeAll(cells, absent, words !== null, values)
    if (words !== null) values.push(words)
  }

  /** A row's values by place. Members mostly stand in the order of the columns: to walk through them costs a part of looking for each by its name. */
  #cellsOf(row: AnyRow): Cells {
    const cells: unknown[] = []
    for (const name in row) {
      if (this.#columns[cells.length]?.name !== name) return this.#columns.map((column) => row[column.name])
      cells.push(row[name])
    }
    return cells
  }

  /** The number of the row's kind; undefined, and nothing appended, if it is of none. */
  #encodeAs(cells: Cells, absent: boolean, words: boolean, values: BatchValues): number | undefined {
    const from = values.length
    for (let place = 0; place < this.#kinds.length; place++) {
      const kind = this.#kinds[place]
      if (kind === undefined || kind.absent !== absent || kind.words !== words) continue
      if (this.#append(cells, kind.same, values)) {
        if (place > 0) this.#kinds.unshift(...this.#kinds.splice(place, 1))
        return kind.number
      }
      values.length = from
    }
    return undefined
  }

  #append(cells: Cells, all: Cells, values: BatchValues): boolean {
    let place = 0
    for (const { kind } of this.#columns) {
      const same = all[place]
      const value = cells[place++]
      if (same === OWN) {
        if (value === null || value === undefined) return false
        values.push(toSql(kind, value))
      } else if (value !== same && !isAlike(value, same)) return false
    }
    return true
  }

  #encodeAll(cells: Cells, absent: boolean, words: boolean, values: BatchValues): number {
    this.#learn(cells, absent, words)
    for (const [place, { kind }] of this.#columns.entries()) values.push(toSql(kind, cells[place]))
    return this.#shape(absent, words, EMPTY_LIST)
  }

  #learn(cells: Cells, absent: boolean, words: boolean): void {
    const same = this.#columns.map(({ name, kind }, place) => sharedOf(cells[place], kind, this.#repeated.has(name)))
    const again = same.every((value, place) => value === this.#last[place])
    this.#last = same
    if (!again || this.#learnt >= MAX_LEARNT) return
    this.#learnt++
    this.#kinds.unshift({ number: this.#shape(absent, words, same), absent, words, same })
    if (this.#kinds.length > MAX_KINDS) this.#kinds.pop()
  }

  #shape(absent: boolean, words: boolean, same: Cells): number {
    const columns: string[] = []
    const constants: Constant[] = []
    for (const [place, { name, kind }] of this.#columns.entries()) {
      const value = same.length === 0 ? OWN : same[place]
      if (value === OWN) columns.push(name)
      else if (value !== null) constants.push([name, toSql(kind, value)])
    }
    const { id } = this.#table
    return this.#number(`put ${id} ${absent} ${words} ${columns.join()} ${JSON.stringify(constants)}`, () => ({
      kind: 'put',
      table: id,
      absent,
      words,
      columns,
      constants,
    }))
  }
}
