import type { AnyRow, DriverChange, DriverQuery, DriverSum, Group, Table } from 'guard-gateway/core'
import { type Shape, type SqlValue, storedColumns } from '../../kysely/shape.ts'
import { clausesOf, fromSql } from '../../kysely/values.ts'
import type { BatchValues } from '../protocol.ts'
import { clauseName, Patches } from './patches.ts'
import { Puts } from './puts.ts'

const sizeOf = (value: SqlValue): number => (typeof value === 'string' ? value.length + 8 : 8)

/** Turns changes and queries into the numbers of their shapes and flat values. `announce` is called with each new shape. */
export class Encoder {
  readonly #numbers = new Map<string, number>()
  readonly #columns = new Map<string, ReturnType<typeof storedColumns>>()
  readonly #puts = new Map<string, Puts>()
  readonly #patches = new Map<string, Patches>()
  readonly shapes: Shape[] = []
  readonly #announce: (number: number, shape: Shape) => void

  constructor(tables: readonly Table[], announce: (number: number, shape: Shape) => void) {
    this.#announce = announce
    const number = (name: string, make: () => Shape) => this.#number(name, make)
    for (const table of tables) {
      this.#columns.set(table.id, storedColumns(table))
      this.#puts.set(table.id, new Puts(table, number))
      this.#patches.set(table.id, new Patches(table, number))
    }
  }

  /** Announces every shape again, to a worker that knows none. */
  announceAll(): void {
    for (const [number, shape] of this.shapes.entries()) this.#announce(number, shape)
  }

  /** Appends a change to a batch; returns its size in bytes, about. */
  change(change: DriverChange, values: BatchValues): number {
    const from = values.length
    if (change.kind === 'put') this.#puts.get(change.table.id)?.encode(change.row, change.absent, values)
    else if (change.kind === 'patch') this.#patches.get(change.table.id)?.encode(change, values)
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
      // a column of integers takes it as text, and so does JSON
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

  /** A group from its values, how many rows, and the sums. */
  group({ columns }: Table, { by, of }: DriverSum, values: readonly SqlValue[]): Group {
    const same = by.map((name, at) => [name, fromSql(columns[name] ?? 'text', values[at] ?? null)])
    const sums = of.map((name, at) => [name, Number(values[by.length + 1 + at])])
    return {
      by: Object.fromEntries(same) as Group['by'],
      rows: Number(values[by.length]),
      sums: Object.fromEntries(sums) as Group['sums'],
    }
  }

  /** A row from its values; what follows the stored columns is left out. */
  row(table: Table, values: readonly SqlValue[]): AnyRow {
    const row: Record<string, unknown> = {}
    let place = 0
    for (const [name, kind] of this.#columns.get(table.id) ?? []) row[name] = fromSql(kind, values[place++] ?? null)
    return row
  }

  #number(name: string, make: () => Shape): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const shape = make()
    const number = this.shapes.push(shape) - 1
    this.#numbers.set(name, number)
    this.#announce(number, shape)
    return number
  }
}

/** A token, or the beginning of one, as the token index takes it. */
const matchTerm = (token: string): string => (token.endsWith('*') ? `"${token.slice(0, -1)}"*` : `"${token}"`)
