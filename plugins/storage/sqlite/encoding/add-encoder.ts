import type { DriverChange, Table } from 'guard-gateway/core'
import type { Shape } from '../../kysely/shape.ts'
import type { BatchValues } from '../protocol.ts'

type Add = Extract<DriverChange, { readonly kind: 'add' }>

/** Encodes the sums of one table. Most add to the same columns as those before. */
export class AddEncoder {
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
