import type { DriverChange } from 'guard-gateway/core'
import { keyOf } from '../../kysely/shape.ts'
import { isLook } from './batch-statements.ts'

/** Something that waits until those before it that touch the same rows are done. */
export interface Ordered {
  /** How many of those there are. */
  blockers: number
  /** Those that wait for this one. */
  readonly followers: Ordered[]
  readonly touches: readonly Touch[]
}

/** `change`: alone on its row; `add`, `look`: beside others of the same kind. */
export interface Touch {
  readonly row: string
  readonly use: 'change' | 'add' | 'look'
}

const keyIn = (change: DriverChange): readonly string[] =>
  change.kind === 'put' ? keyOf(change.table).map((name) => String(change.row[name])) : change.key

/** The name of the row that a change is of. */
export const rowOf = (change: DriverChange): string => `${change.table.id}\0${keyIn(change).join('\0')}`

/** The rows that a batch touches. */
export const touchesOf = (batch: readonly DriverChange[]): readonly Touch[] => {
  const uses = new Map<string, Touch['use']>()
  for (const change of batch) {
    const row = rowOf(change)
    const use = change.kind === 'add' ? 'add' : change.kind === 'patch' && isLook(change) ? 'look' : 'change'
    const known = uses.get(row)
    uses.set(row, known === undefined || known === use ? use : 'change')
  }
  return [...uses].map(([row, use]) => ({ row, use }))
}

interface Row {
  /** The latest of them, which all have the same use: one, unless that is `add` or `look`. */
  readonly last: Set<Ordered>
  /** The ones before those, which they wait for. */
  before: readonly Ordered[]
  use: Touch['use']
}

/** Batches that touch the same row run one after another, in the order in which they came, although there are several connections. */
export class RowOrder {
  readonly #rows = new Map<string, Row>()

  /** Puts a batch after those that it must wait for. Returns whether it may run at once. */
  add(batch: Ordered): boolean {
    for (const { row: name, use } of batch.touches) {
      const row = this.#rows.get(name)
      if (row === undefined) {
        this.#rows.set(name, { last: new Set([batch]), before: [], use })
        continue
      }
      const isBeside = use !== 'change' && use === row.use
      if (!isBeside) row.before = [...row.last]
      for (const one of row.before) {
        one.followers.push(batch)
        batch.blockers++
      }
      if (!isBeside) row.last.clear()
      row.last.add(batch)
      row.use = use
    }
    return batch.blockers === 0
  }

  /** A batch is done. Returns those that may run now. */
  done(batch: Ordered): readonly Ordered[] {
    for (const { row: name } of batch.touches) {
      const row = this.#rows.get(name)
      if (row === undefined) continue
      row.before = row.before.filter((one) => one !== batch)
      row.last.delete(batch)
      if (row.last.size === 0 && row.before.length === 0) this.#rows.delete(name)
    }
    return batch.followers.filter((follower) => --follower.blockers === 0)
  }
}
