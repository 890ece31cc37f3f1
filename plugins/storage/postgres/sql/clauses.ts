import type { Column, Table } from 'guard-gateway/core'
import { type RawBuilder, sql } from 'kysely'
import { COMPARE } from '../../kysely/query.ts'
import { type Clause, keyOf, takesValue } from '../../kysely/shape.ts'

/** A parameter with the type of a column. */
export const typed = (place: number, kind: Column): RawBuilder<unknown> => sql`${place}::${sql.raw(PG_TYPES[kind])}`

/** One test; `place` is where its value is. */
export const testOf = ({ columns, id }: Table, [column, op]: Clause, place: number): RawBuilder<boolean> => {
  const target = sql.ref(`${id}.${column}`)
  const kind = columns[column] ?? 'text'
  if (op === 'null') return sql`${target} is null`
  if (op === 'not_null') return sql`${target} is not null`
  if (op === 'in') return sql`${target} = any(${place}::${sql.raw(PG_TYPES[kind])}[])`
  return sql`${target} ${COMPARE[op]} ${typed(place, kind)}`
}

/** Those of the tests that `isIncluded` takes, joined by AND; the values of all of them stand in order from `first` on. */
export const testsOf = (
  table: Table,
  clauses: readonly Clause[],
  first: number,
  isIncluded: (clause: Clause) => boolean = () => true,
): RawBuilder<boolean> => {
  const tests: RawBuilder<boolean>[] = []
  let place = first
  for (const clause of clauses) {
    if (isIncluded(clause)) tests.push(testOf(table, clause, place))
    if (takesValue(clause)) place++
  }
  return tests.length === 0 ? sql`true` : sql`${sql.join(tests, sql` and `)}`
}

/** The test of a row's key, whose values stand from `first` on. */
export const keyTest = (table: Table, first: number): RawBuilder<boolean> =>
  testsOf(
    table,
    keyOf(table).map((name): Clause => [name, 'eq']),
    first,
  )

/** The type of each kind of column, as the catalogue of the database names it. */
export const PG_TYPES = {
  text: 'text',
  integer: 'bigint',
  int64: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  // jsonb would lose the order of members, duplicates and exact integers
  json: 'text',
  // tokens as they are, found by GIN, also by their beginnings
  search: 'tsvector',
} as const satisfies Record<Column, string>
