import { type DriverChange, GuardError } from 'guard-gateway/core'
import { keyOf } from '../../kysely/shape.ts'
import type { Statement } from '../connection/statement.ts'
import { isCounted, onlyLooks } from './batch-statements.ts'
import type { RowAdd } from './merged-adds.ts'
import { type Ordered, rowOf, type Touch, touchesOf } from './row-order.ts'

export interface Waiter {
  readonly resolve: (written: boolean) => void
  readonly reject: (error: Error) => void
  /** Keep the batch while the database cannot be written, instead of refusing it. */
  readonly hold: boolean
  /** It must survive a power cut. */
  readonly sync: boolean
}

/** A batch that is not answered yet. */
export class Batch implements Ordered {
  blockers = 0
  readonly followers: Ordered[] = []
  readonly touches: readonly Touch[]
  readonly statements: readonly Statement[]
  /** The additions at its end, with their rows. */
  readonly lastAdds: readonly RowAdd[]
  readonly bytes: number
  readonly isCounted: boolean
  /** It has only conditions, and may be repeated as often as one likes. */
  readonly onlyLooks: boolean
  readonly waiter: Waiter
  /** When it came, on the clock of `performance.now()`. */
  readonly since = performance.now()
  /** How often another transaction was in its way. */
  conflicts = 0
  /** How often its connection was lost. */
  losses = 0
  /** A transaction with others failed: it has one of its own now. */
  isAlone = false
  /** Its caller has an answer already; it only keeps its place until its turn. */
  isAnswered = false
  /** The number of its marker while it is not known whether it was committed. */
  uncertain: number | undefined

  constructor(changes: readonly DriverChange[], statements: readonly Statement[], waiter: Waiter) {
    this.touches = touchesOf(changes)
    this.statements = statements
    this.lastAdds = lastAddsOf(changes, statements)
    this.isCounted = isCounted(changes)
    this.onlyLooks = onlyLooks(changes)
    this.waiter = waiter
    this.bytes = statements.reduce(
      (sum, { values }) => values.reduce((size, value) => size + (value?.length ?? 0) + 8, sum),
      0,
    )
  }

  resolve(written: boolean): void {
    this.isAnswered = true
    this.waiter.resolve(written)
  }

  reject(error: Error): void {
    this.isAnswered = true
    this.waiter.reject(error)
  }
}

const lastAddsOf = (changes: readonly DriverChange[], statements: readonly Statement[]): readonly RowAdd[] => {
  const others = changes.findLastIndex(({ kind }) => kind !== 'add') + 1
  return changes.slice(others).flatMap((change, at) => {
    const statement = statements[others + at]
    return statement === undefined ? [] : [{ row: rowOf(change), keySize: keyOf(change.table).length, statement }]
  })
}

export const overloaded = (): GuardError =>
  new GuardError('OVERLOADED', 'The trace store has as many records waiting as it takes. Try again in a moment.')

export const unavailable = (message: string): GuardError =>
  new GuardError('STORAGE_UNAVAILABLE', `The database cannot be written: ${message}.`)
