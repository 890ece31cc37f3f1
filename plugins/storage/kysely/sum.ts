import type { Table } from 'guard-gateway/core'
import { sql } from 'kysely'
import { type FindPlan, type ScanPhase, serves, within } from './find.ts'
import { testsOf } from './query.ts'
import type { Db } from './schema.ts'
import type { Clause, Shape } from './shape.ts'

type SumShape = Extract<Shape, { readonly kind: 'sum' }>

/** The query that walks the rows of a sum. */
export const sumScanOf = ({ by: _by, of: _of, ...walked }: SumShape) =>
  ({ ...walked, kind: 'find', search: false }) as const

/** What the rows of a stretch come to: the values of `by`, how many rows, then the sums of `of`. */
export const sumSql = (db: Db, table: Table, shape: SumShape, scan: FindPlan, stretch: ScanPhase) => {
  const loose = (clause: Clause) => !serves(scan.held, shape.order, clause)
  const columns = shape.by.map((name) => sql.ref(`${table.id}.${name}`))
  const rows = within(db, table, sumScanOf(shape), scan, stretch)
    .where(testsOf(table.id, shape.where, 0, loose))
    .select([
      ...columns.map((column, at) => sql`${column}`.as(`by_${at}`)),
      sql`count(*)`.as('rows'),
      ...shape.of.map((name, at) => sql`coalesce(sum(${sql.ref(`${table.id}.${name}`)}), 0)`.as(`sum_${at}`)),
    ])
  return (columns.length === 0 ? rows.having(sql<boolean>`count(*) > 0`) : rows.groupBy(columns)).compile()
}
