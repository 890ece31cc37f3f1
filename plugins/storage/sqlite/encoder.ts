import type { AnyRow, Column, DriverChange, DriverQuery, DriverSum, Group, Table } from 'guard-gateway/core'
import {
  type Clause,
  type Constant,
  keyOf,
  type Shape,
  type SqlValue,
  searchColumn,
  storedColumns,
} from '../kysely/shape.ts'
import { clausesOf, fromSql, toSql, wordsOf } from '../kysely/values.ts'
import type { BatchValues } from './protocol.ts'

const sizeOf = (value: SqlValue): number => (typeof value === 'string' ? value.length + 8 : 8)

/** Encodes changes and queries as the number of their statement shape and flat values. Calls `announce` with each new shape. */
export class Encoder {
  readonly #numbers = new Map<string, number>()
  readonly #columns = new Map<string, ReturnType<typeof storedColumns>>()
  readonly #puts = new Map<string, PutEncoder>()
  readonly #patches = new Map<string, PatchEncoder>()
  readonly #adds = new Map<string, AddEncoder>()
  readonly shapes: Shape[] = []
  readonly #announce: (number: number, shape: Shape) => void

  constructor(tables: readonly Table[], announce: (number: number, shape: Shape) => void) {
    this.#announce = announce
    const number = (name: string, make: () => Shape) => this.#number(name, make)
    for (const table of tables) {
      this.#columns.set(table.id, storedColumns(table))
      this.#puts.set(table.id, new PutEncoder(table, number))
      this.#patches.set(table.id, new PatchEncoder(table, number))
      this.#adds.set(table.id, new AddEncoder(table, number))
    }
  }

  /** Announces all shapes again, to a new worker. */
  announceAll(): void {
    for (const [number, shape] of this.shapes.entries()) this.#announce(number, shape)
  }

  /** Appends a change to a batch. Returns its size in bytes, about. */
  change(change: DriverChange, values: BatchValues): number {
    const from = values.length
    if (change.kind === 'put') this.#puts.get(change.table.id)?.encode(change.row, change.absent, values)
    else if (change.kind === 'patch') this.#patches.get(change.table.id)?.encode(change, values)
    else if (change.kind === 'add') this.#adds.get(change.table.id)?.encode(change, values)
    else {
      const { id } = change.table
      values.push(
        this.#number(`remove ${id}`, () => ({ kind: 'remove', table: id })),
        ...change.key,
      )
    }
    let size = 0
    for (let at = from; at < values.length; at++) {
      const value = values[at] ?? null
      // an integer column accepts text, and JSON has no bigint
      if (typeof value === 'bigint') values[at] = String(value)
      size += sizeOf(value)
    }
    return size
  }

  get(table: Table): number {
    return this.#number(`get ${table.id}`, () => ({ kind: 'get', table: table.id }))
  }

  prune(table: Table, where: DriverQuery['where'], values: SqlValue[]): number {
    const clauses = clausesOf(table, where, values)
    return this.#number(`prune ${table.id} ${clauseName(clauses)}`, () => ({
      kind: 'prune',
      table: table.id,
      where: clauses,
    }))
  }

  find(table: Table, { where, order, search }: DriverQuery, values: SqlValue[]): number {
    const clauses = clausesOf(table, where, values)
    const words = search.length > 0
    values.push(words ? search.map(matchTerm).join(' AND ') : null)
    const name = `find ${table.id} ${order.join(' ')} ${words} ${clauseName(clauses)}`
    return this.#number(name, () => ({ kind: 'find', table: table.id, where: clauses, order, search: words }))
  }

  sum(table: Table, { where, order, by, of }: DriverSum, values: SqlValue[]): number {
    const clauses = clausesOf(table, where, values)
    values.push(null)
    const name = `sum ${table.id} ${order.join(' ')} ${by.join(',')} ${of.join(',')} ${clauseName(clauses)}`
    return this.#number(name, () => ({ kind: 'sum', table: table.id, where: clauses, order, by, of }))
  }

  /** Decodes a group: its values, the number of rows, and the sums. */
  group({ columns }: Table, { by, of }: DriverSum, values: readonly SqlValue[]): Group {
    const same = by.map((name, at) => [name, fromSql(columns[name] ?? 'text', values[at] ?? null)])
    const sums = of.map((name, at) => [name, Number(values[by.length + 1 + at])])
    return {
      by: Object.fromEntries(same) as Group['by'],
      rows: Number(values[by.length]),
      sums: Object.fromEntries(sums) as Group['sums'],
    }
  }

  /** Decodes a row. Values after the stored columns are ignored. */
  row(table: Table, values: readonly SqlValue[]): AnyRow {
    const row: Record<string, unknown> = {}
    let index = 0
    for (const [name, kind] of this.#columns.get(table.id) ?? []) row[name] = fromSql(kind, values[index++] ?? null)
    return row
  }

  #number(name: string, make: () => Shape): number {
    const existing = this.#numbers.get(name)
    if (existing !== undefined) return existing
    const shape = make()
    const number = this.shapes.push(shape) - 1
    this.#numbers.set(name, number)
    this.#announce(number, shape)
    return number
  }
}

/** A token, or a prefix `abc*`, in the syntax of the full-text index. */
const matchTerm = (token: string): string => (token.endsWith('*') ? `"${token.slice(0, -1)}"*` : `"${token}"`)

type Add = Extract<DriverChange, { readonly kind: 'add' }>

/** Encodes the sums of one table. Most add to the same columns as those before. */
class AddEncoder {
  readonly #table: string
  readonly #number: (name: string, make: () => Shape) => number
  #columns: readonly string[] = []
  #last = -1

  constructor({ id }: Table, number: (name: string, make: () => Shape) => number) {
    this.#table = id
    this.#number = number
  }

  /** Appends the number of the shape, the key, and what is added. */
  encode({ key, sums }: Add, values: BatchValues): void {
    const at = values.push(0) - 1
    for (const part of key) values.push(part)
    let count = 0
    let isSame = true
    for (const name in sums) {
      isSame &&= this.#columns[count++] === name
      values.push(sums[name] ?? 0)
    }
    if (!isSame || count !== this.#columns.length) this.#learn(Object.keys(sums))
    values[at] = this.#last
  }

  #learn(columns: readonly string[]): void {
    const table = this.#table
    this.#columns = columns
    this.#last = this.#number(`add ${table} ${columns.join()}`, () => ({ kind: 'add', table, columns }))
  }
}

type Patch = Extract<DriverChange, { readonly kind: 'patch' }>

interface Columns {
  readonly names: readonly string[]
  readonly kinds: readonly Column[]
  /** The number of the shape that changes exactly these columns without a condition. */
  number?: number
}

/** The conditions of a shape as text, for its name. */
const clauseName = (clauses: readonly Clause[]): string => clauses.map(([column, op]) => `${column} ${op}`).join()

const hasExactly = (changes: AnyRow, names: readonly string[]): boolean => {
  let index = 0
  for (const name in changes) if (names[index++] !== name || changes[name] === undefined) return false
  return index === names.length
}

/** Encodes the patches of one table. Most change the same columns as the patch before. */
class PatchEncoder {
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
class PutEncoder {
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
