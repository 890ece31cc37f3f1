import type { PgValue } from '../sql/values.ts'

/** A statement with the values of its parameters. */
export interface Statement {
  /** The name under which a connection keeps it prepared; absent: it is planned anew for its values. */
  readonly name?: string
  readonly sql: string
  readonly values: readonly PgValue[]
}

export interface Result {
  readonly rows: readonly (readonly PgValue[])[]
  /** Rows that were read or changed. */
  readonly count: number
}

/** A statement without values, run once. */
export const plain = (sql: string, ...values: readonly PgValue[]): Statement => ({ sql, values })
