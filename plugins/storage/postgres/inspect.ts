import { connect } from './connection/connect.ts'
import { plain } from './connection/statement.ts'
import { hidePassword, targetOf } from './connection/target.ts'
import { Failures } from './failures.ts'

/** What a database says of itself. */
export interface Inspected {
  /** Of the server. */
  readonly version: string
  readonly tables: number
  readonly bytes: number
}

const STATEMENT = plain(
  `select current_setting('server_version'), count(*), coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_class c
   join pg_namespace n on n.oid = c.relnamespace where n.nspname = current_schema() and c.relkind in ('r', 'p')`,
)

const TIMES = { connect_timeout_ms: 5_000, statement_timeout_ms: 30_000, lock_timeout_ms: 5_000 } as const

/** Connects to a database and asks it. Throws what stands in the way, as a start would. */
export const inspect = async (url: string): Promise<Inspected> => {
  const target = targetOf(url)
  try {
    const connection = await connect(target, { ...TIMES, synchronous_commit: undefined })
    try {
      const [version, tables, bytes] = (await connection.run([STATEMENT]))[0]?.rows[0] ?? []
      return { version: String(version), tables: Number(tables), bytes: Number(bytes) }
    } finally {
      await connection.close()
    }
  } catch (error) {
    throw new Failures(target, hidePassword(target)).atStart(error)
  }
}
