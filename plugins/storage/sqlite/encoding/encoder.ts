import type { AnyRow, DriverChange, DriverQuery, DriverSum, Group, Table } from 'guard-gateway/core'
import { type Shape, type SqlValue, storedColumns } from '../../kysely/shape.ts'
import { clausesOf, fromSql } from '../../kysely/values.ts'
import type { BatchValues } from '../protocol.ts'
import { AddEncoder } from './add-encoder.ts'
import { clauseName, PatchEncoder } from './patch-encoder.ts'
import { PutEncoder } from './put-encoder.ts'

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
