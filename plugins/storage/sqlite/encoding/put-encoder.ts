import type { AnyRow, Column, Table } from 'guard-gateway/core'
import { type Constant, keyOf, type Shape, searchColumn, storedColumns } from '../../kysely/shape.ts'
import { toSql, wordsOf } from '../../kysely/values.ts'
import type { BatchValues } from '../protocol.ts'

/** The most templates that a row is compared with, the last used first. */
const MAX_TEMPLATES = 32
/** The most templates that one process makes: each has its own statement. */
const MAX_LEARNED = 500
/** Texts that may be constants in a statement. */
const CONSTANT_TEXT = /^[ -~]{0,64}$/

/** Marks a column whose value each row binds. */
const BOUND = Symbol('bound')
const EMPTY_LIST: readonly unknown[] = []

/** Values in the order of the stored columns. */
type Cells = readonly unknown[]
type Put = Extract<Shape, { readonly kind: 'put' }>

/** A template of rows that agree in some columns. `same` holds these values, and BOUND for the other columns. */
interface Template {
  readonly number: number
  readonly absent: boolean
  readonly words: boolean
  readonly same: Cells
}

const isEquivalent = (value: unknown, same: unknown): boolean =>
  same === null ? value === undefined : same === EMPTY_LIST && Array.isArray(value) && value.length === 0

const mayBeConstant = (value: unknown): boolean =>
  typeof value === 'string' ? CONSTANT_TEXT.test(value) : typeof value === 'boolean' || Number.isSafeInteger(value)

/** The value that a template may have in this column: a constant, or BOUND. */
const templateValue = (value: unknown, kind: Column, isRepeated: boolean): unknown => {
  if (value === null || value === undefined) return null
  if (kind === 'json') return isEquivalent(value, EMPTY_LIST) ? EMPTY_LIST : BOUND
  if ((kind === 'integer' && value === 0) || (kind === 'boolean' && value === false)) return value
  return isRepeated && mayBeConstant(value) ? value : BOUND
}

/**
 * Encodes whole rows of one table. Values that rows share with recent ones are constants in the text of the statement, and columns
 * that are null are left out. Wide rows are half null and half repetition, and a value that is neither copied nor bound costs nothing.
 */
export class PutEncoder {
  readonly #table: Table
  readonly #columns: readonly { readonly name: string; readonly kind: Column }[]
  readonly #repeated: ReadonlySet<string>
  readonly #search: string | undefined
  readonly #number: (name: string, make: () => Put) => number
  readonly #templates: Template[] = []
  #learned = 0
  /** The template of the last row that matched none. A second row like it makes it a template. */
  #candidate: Cells = []

  constructor(table: Table, number: (name: string, make: () => Put) => number) {
    const key = keyOf(table)
    this.#table = table
    this.#columns = storedColumns(table).map(([name, kind]) => ({ name, kind }))
    this.#repeated = new Set(table.repeated?.filter((name) => !key.includes(name)))
    this.#search = searchColumn(table)
    this.#number = number
  }

  /** Appends the number of the row's shape, and its values. */
  encode(row: AnyRow, absent: boolean, values: BatchValues): void {
    const words = this.#search === undefined ? null : wordsOf(row[this.#search])
    const cells = this.#cellsOf(row)
    const at = values.push(0) - 1
    values[at] =
      this.#encodeByTemplate(cells, absent, words !== null, values) ??
      this.#encodeAll(cells, absent, words !== null, values)
    if (words !== null) values.push(words)
  }

  /** The values of a row in the order of the columns. Members mostly have that order already, and a loop over them is much faster than a lookup of each name. */
  #cellsOf(row: AnyRow): Cells {
    const cells: unknown[] = []
    for (const name in row) {
      if (this.#columns[cells.length]?.name !== name) return this.#columns.map((column) => row[column.name])
      cells.push(row[name])
    }
    return cells
  }

  /** Encodes the row by a template and returns its number. Returns undefined, and appends nothing, if no template matches. */
  #encodeByTemplate(cells: Cells, absent: boolean, words: boolean, values: BatchValues): number | undefined {
    const from = values.length
    for (let index = 0; index < this.#templates.length; index++) {
      const template = this.#templates[index]
      if (template === undefined || template.absent !== absent || template.words !== words) continue
      if (this.#append(cells, template.same, values)) {
        if (index > 0) this.#templates.unshift(...this.#templates.splice(index, 1))
        return template.number
      }
      values.length = from
    }
    return undefined
  }

  #append(cells: Cells, all: Cells, values: BatchValues): boolean {
    let index = 0
    for (const { kind } of this.#columns) {
      const same = all[index]
      const value = cells[index++]
      if (same === BOUND) {
        if (value === null || value === undefined) return false
        values.push(toSql(kind, value))
      } else if (value !== same && !isEquivalent(value, same)) return false
    }
    return true
  }

  #encodeAll(cells: Cells, absent: boolean, words: boolean, values: BatchValues): number {
    this.#learn(cells, absent, words)
    for (const [index, { kind }] of this.#columns.entries()) values.push(toSql(kind, cells[index]))
    return this.#shape(absent, words, EMPTY_LIST)
  }

  #learn(cells: Cells, absent: boolean, words: boolean): void {
    const same = this.#columns.map(({ name, kind }, index) =>
      templateValue(cells[index], kind, this.#repeated.has(name)),
    )
    const again = same.every((value, index) => value === this.#candidate[index])
    this.#candidate = same
    if (!again || this.#learned >= MAX_LEARNED) return
    this.#learned++
    this.#templates.unshift({ number: this.#shape(absent, words, same), absent, words, same })
    if (this.#templates.length > MAX_TEMPLATES) this.#templates.pop()
  }

  #shape(absent: boolean, words: boolean, same: Cells): number {
    const columns: string[] = []
    const constants: Constant[] = []
    for (const [index, { name, kind }] of this.#columns.entries()) {
      const value = same.length === 0 ? BOUND : same[index]
      if (value === BOUND) columns.push(name)
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
