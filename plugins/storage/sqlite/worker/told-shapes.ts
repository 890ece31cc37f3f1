import type { Table } from 'guard-gateway/core'
import type { Shape } from '../../kysely/shape.ts'
import { readyChange } from './changes.ts'
import type { Statements } from './statements.ts'

/** Shapes by the numbers under which they were told, and the changes made ready for them. */
export class ToldShapes {
  readonly #tables: ReadonlyMap<string, Table>
  readonly #statements: Statements
  readonly #shapes = new Map<number, { readonly table: Table; readonly shape: Shape }>()
  readonly #changes = new Map<number, ReturnType<typeof readyChange>>()

  constructor(tables: readonly Table[], statements: Statements) {
    this.#tables = new Map(tables.map((table) => [table.id, table]))
    this.#statements = statements
  }

  add(number: number, shape: Shape): void {
    const table = this.#tables.get(shape.table)
    if (table !== undefined) this.#shapes.set(number, { table, shape })
  }

  /** Throws TypeError if it was never told. */
  shape(number: number): { readonly table: Table; readonly shape: Shape } {
    const found = this.#shapes.get(number)
    if (found === undefined) throw new TypeError(`shape ${number} was never sent`)
    return found
  }

  /** Throws TypeError if it is none of a change. */
  change(number: number): ReturnType<typeof readyChange> {
    const known = this.#changes.get(number)
    if (known !== undefined) return known
    const { table, shape } = this.shape(number)
    if (shape.kind !== 'put' && shape.kind !== 'patch' && shape.kind !== 'remove')
      throw new TypeError(`shape ${number} is no change`)
    const made = readyChange(table, shape, this.#statements)
    this.#changes.set(number, made)
    return made
  }
}
