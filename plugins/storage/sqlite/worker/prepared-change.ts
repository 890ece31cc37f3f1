import type { Statement } from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import { type Step, writeSteps } from '../../kysely/query.ts'
import { keyOf, takesValue, type WriteShape } from '../../kysely/shape.ts'
import type { BatchValues } from '../protocol.ts'
import { compiler } from './compiler.ts'
import type { Statements } from './statements.ts'

/** One statement of a change. `take`: the indexes of its parameters among the change's values; undefined if they are its first values, in order. */
interface PreparedStep {
  readonly statement: Statement
  readonly take: readonly number[] | undefined
  readonly size: number
  readonly must: boolean
}

/** The prepared statements of one shape of change, and the number of values that such a change has. */
export interface PreparedChange {
  readonly table: string
  readonly arity: number
  /** The number of key columns. */
  readonly keySize: number
  /** It adds to what there is: done twice, it is another change. */
  readonly isSum: boolean
  readonly steps: readonly PreparedStep[]
}

const arityOf = (table: Table, shape: WriteShape): number => {
  const key = keyOf(table).length
  if (shape.kind === 'remove') return key
  if (shape.kind === 'add') return key + shape.columns.length
  if (shape.kind === 'put') return shape.columns.length + (shape.words ? 1 : 0)
  return shape.columns.length + key + shape.expected.filter(takesValue).length + (shape.words === 'set' ? 1 : 0)
}

const prepareStep = ({ sql, take, must }: Step, statements: Statements): PreparedStep => {
  const inOrder = take.every((place, index) => place === index)
  return { statement: statements.get(sql), take: inOrder ? undefined : take, size: take.length, must }
}

/** Compiles a shape of change; called once for each shape. */
export const prepareChange = (table: Table, shape: WriteShape, statements: Statements): PreparedChange => ({
  table: table.id,
  arity: arityOf(table, shape),
  keySize: keyOf(table).length,
  isSum: shape.kind === 'add',
  steps: writeSteps(compiler, table, shape).map((step) => prepareStep(step, statements)),
})

/** Runs one change, whose values start at `at`; false if its condition failed. */
export const runChange = ({ steps }: PreparedChange, values: BatchValues, at: number): boolean => {
  for (const { statement, take, size, must } of steps) {
    const bound = take === undefined ? values.slice(at, at + size) : take.map((place) => values[at + place])
    if (statement.run(bound).changes === 0 && must) return false
  }
  return true
}
