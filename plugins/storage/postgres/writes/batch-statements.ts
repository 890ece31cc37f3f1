import type { DriverChange, Table } from 'guard-gateway/core'
import type { Statement } from '../connection/statement.ts'
import { addSql, type OnFailed, patchSql, putSql, removeSql } from '../sql/changes.ts'
import type { Statements } from '../sql/statements.ts'
import { clausesOf, type PgValue, toPg } from '../sql/values.ts'

type Of<K extends DriverChange['kind']> = Extract<DriverChange, { readonly kind: K }>

const keyValues = (key: readonly string[]): PgValue[] => key.map((part) => toPg('key', 'text', part))

const kindOf = (table: Table, name: string) => table.columns[name] ?? 'text'

/** Compiles changes to statements. */
export class BatchStatements {
  readonly #statements: Statements

  constructor(statements: Statements) {
    this.#statements = statements
  }

  /** The statements of a batch, one for each change, in order. Throws a TypeError for a value that its column cannot hold. */
  of(
    batch: readonly DriverChange[],
    onFailed: OnFailed = batch.length === 1 ? 'count' : 'raise',
  ): readonly Statement[] {
    return batch.map((change) => this.#change(change, onFailed))
  }

  #change(change: DriverChange, onFailed: OnFailed): Statement {
    if (change.kind === 'put') return this.#put(change, onFailed)
    if (change.kind === 'patch') return this.#patch(change, onFailed)
    if (change.kind === 'add') return this.#add(change)
    const { table, key } = change
    return this.#statements.prepared(`remove ${table.id}`, () => removeSql(table), keyValues(key))
  }

  #put({ table, row, absent }: Of<'put'>, onFailed: OnFailed): Statement {
    const values: PgValue[] = []
    for (const name in table.columns) values.push(toPg(name, kindOf(table, name), row[name]))
    return this.#statements.prepared(
      `put ${table.id} ${absent} ${onFailed}`,
      () => putSql(table, absent, onFailed),
      values,
    )
  }

  #patch({ table, key, changes, expected }: Of<'patch'>, onFailed: OnFailed): Statement {
    const columns: string[] = []
    const values: PgValue[] = []
    for (const name in changes) {
      if (changes[name] === undefined) continue
      columns.push(name)
      values.push(toPg(name, kindOf(table, name), changes[name]))
    }
    values.push(...keyValues(key))
    const clauses = clausesOf(table, expected, values)
    return this.#statements.prepared(
      `patch ${table.id} ${onFailed} ${columns.join()} ${clauses.join(' ')}`,
      () => patchSql(table, columns, clauses, onFailed),
      values,
    )
  }

  #add({ table, key, sums }: Of<'add'>): Statement {
    const columns = Object.keys(sums)
    const values = [...keyValues(key), ...columns.map((name) => toPg(name, 'integer', sums[name]))]
    return this.#statements.prepared(`add ${table.id} ${columns.join()}`, () => addSql(table, columns), values)
  }
}

/** Whether the batch only looks, and writes nothing. */
export const onlyLooks = (batch: readonly DriverChange[]): boolean =>
  batch.every((change) => change.kind === 'patch' && isLook(change))

/** A condition without a change. */
export const isLook = ({ changes }: Of<'patch'>): boolean => {
  for (const name in changes) if (changes[name] !== undefined) return false
  return true
}

/** Whether a batch of one change has a condition that shows in the number of rows. */
export const isCounted = (batch: readonly DriverChange[]): boolean => {
  const [change] = batch
  return batch.length === 1 && (change?.kind === 'patch' || (change?.kind === 'put' && change.absent))
}
