import type { Table } from 'guard-gateway/core'
import { isChange, type Shape } from '../../kysely/shape.ts'
import { prepareChange } from './prepared-change.ts'
import type { Statements } from './statements.ts'

/** Statement shapes by the numbers under which they were sent, and the prepared changes of these shapes. */
export class StatementShapes {
  readonly #tables: ReadonlyMap<string, Table>
  readonly #statements: Statements
  readonly #shapes = new Map<number, { readonly table: Table; readonly shape: Shape }>()
  readonly #changes = new Map<number, ReturnType<typeof prepareChange>>()

  constructor(tables: readonly Table[], statements: Statements) {
    this.#tables = new Map(tables.map((table) => [table.id, table]))
    this.#statements = statements
  }

  add(number: number, shape: Shape): void {
    const table = this.#tables.get(shape.table)
    if (table !== undefined) this.#shapes.set(number, { table, shape })
  }

  /** Throws TypeError if no shape of this number was sent. */
  shape(number: number): { readonly table: Table; readonly shape: Shape } {
    const found = this.#shapes.get(number)
    if (found === undefined) throw new TypeError(`shape ${number} was never sent`)
    return found
  }

  /** The prepared change of a shape. Throws TypeError if the shape is no change. */
  change(number: number): ReturnType<typeof prepareChange> {
    const cached = this.#changes.get(number)
    if (cached !== undefined) return cached
    const { table, shape } = this.shape(number)
    if (!isChange(shape)) throw new TypeError(`shape ${number} is no change`)
    const prepared = prepareChange(table, shape, this.#statements)
    this.#changes.set(number, prepared)
    return prepared
  }
}
