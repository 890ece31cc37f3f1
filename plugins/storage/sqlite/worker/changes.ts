import type { Statement } from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import { type Step, type WriteShape, writeSteps } from '../../kysely/query.ts'
import { keyOf, takesValue } from '../../kysely/shape.ts'
import type { BatchValues } from '../protocol.ts'
import { compiler } from './compiler.ts'
import type { Statements } from './statements.ts'

/** One statement of a change; `take` undefined: its parameters are the change's first values, in order. */
interface Ready {
  readonly statement: Statement
  readonly take: readonly number[] | undefined
  readonly size: number
  readonly must: boolean
}

/** A kind of change, ready to run: how many values it has and the statements that use them. */
export interface ReadyChange {
  readonly arity: number
  readonly steps: readonly Ready[]
}

const arityOf = (table: Table, shape: WriteShape): number => {
  const key = keyOf(table).length
  if (shape.kind === 'remove') return key
  if (shape.kind === 'put') return shape.columns.length + (shape.words ? 1 : 0)
  return shape.columns.length + key + shape.expected.filter(takesValue).length + (shape.words === 'set' ? 1 : 0)
}

const readyStep = ({ sql, take, must }: Step, statements: Statements): Ready => {
  const inOrder = take.every((place, index) => place === index)
  return { statement: statements.get(sql), take: inOrder ? undefined : take, size: take.length, must }
}

/** Compiles a kind of change, once. */
export const readyChange = (table: Table, shape: WriteShape, statements: Statements): ReadyChange => ({
  arity: arityOf(table, shape),
  steps: writeSteps(compiler, table, shape).map((step) => readyStep(step, statements)),
})

/** Runs one change whose values begin at `at`; false if its condition failed. */
export const runChange = ({ steps }: ReadyChange, values: BatchValues, at: number): boolean => {
  for (const { statement, take, size, must } of steps) {
    const bound = take === undefined ? values.slice(at, at + size) : take.map((place) => values[at + place])
    // as arguments: elements of an array are looked up one by one
    if (statement.run(...bound).changes === 0 && must) return false
  }
  return true
}
