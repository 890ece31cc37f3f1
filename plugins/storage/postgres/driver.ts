import type { Driver, DriverContext, Table } from 'guard-gateway/core'
import { plain } from './connection/statement.ts'
import { Database, type DatabaseOptions, runOne } from './database.ts'
import { Exclusive } from './exclusive.ts'
import { readBack } from './read-back.ts'
import { ReadCache, Reads, whereOf } from './reads.ts'
import { pruneSql } from './sql/changes.ts'
import { Statements, unprepared } from './sql/statements.ts'
import { migrate } from './start/migrate.ts'
import { Upkeep } from './upkeep.ts'
import { BatchStatements } from './writes/batch-statements.ts'
import { CommitMarkers } from './writes/commit-markers.ts'
import { WriteQueue } from './writes/write-queue.ts'

export interface DriverOptions extends DatabaseOptions {
  /** Whose database it is; empty: nobody says. */
  readonly cluster: string
  readonly advisory_locks: boolean
}

const BYTES_FOR_MS = 5_000

/** The part of the connections that writes may have, and the part that exclusive work may have. */
const WRITERS = 0.6
const EXCLUSIVE = 0.25

/** One connection is left for reads: exclusive work may read while writes wait for the row that it has locked. */
const shares = (pool: number) => {
  const exclusive = Math.max(1, Math.floor(pool * EXCLUSIVE))
  return { exclusive, writers: Math.max(1, Math.min(Math.ceil(pool * WRITERS), pool - exclusive - 1)) }
}

/** Opens the database, adds what is missing in it, and gives the driver. Throws one clear GuardError for whatever stands in the way. */
export const openDriver = async (
  tables: readonly Table[],
  { fault }: DriverContext,
  options: DriverOptions,
): Promise<Driver> => {
  const database = new Database(options, fault)
  const { pool, state, describe } = database
  const { grace_ms } = options
  const markers = new CommitMarkers()
  const upkeep = new Upkeep({
    markers,
    use: async (work) => {
      if (pool.down === undefined) await database.use(work)
    },
    isDown: () => state.now === 'full' || state.now === 'failing',
    onWritable: () => state.set('ok'),
  })
  await prepare(database, tables, upkeep, options)

  const batches = new BatchStatements(new Statements('w'))
  const { writers, exclusive: most } = shares(options.pool)
  const writes = new WriteQueue(pool, state, markers, batches, { writers, grace_ms, describe })
  database.onDown = (error) => writes.refuseLate(error)
  const cache = new ReadCache()
  const reads = new Reads((statement) => database.run(statement), cache)
  const exclusive = new Exclusive(pool, markers, batches, cache.statements, {
    most,
    grace_ms,
    describe,
    reader: (connection) => new Reads((statement) => runOne(connection, statement), cache),
  })
  let bytes: { readonly value: number; readonly at: number } | undefined

  return {
    capabilities: { search: 'tokens', shared: true },
    get state() {
      return state.now
    },
    onState: (listener) => state.listen(listener),
    get notes() {
      const away = pool.down === undefined ? undefined : awayNote(database)
      return [away, upkeep.clock_note].filter((note) => note !== undefined)
    },
    get: (table, key) => reads.get(table, key),
    find: (table, query) => reads.find(table, query),
    sum: (table, asked) => reads.sum(table, asked),
    write: (batch, writeOptions) => writes.add(batch, writeOptions),
    async remove(table, where, limit) {
      const { clauses, values } = whereOf(table, where)
      return (await database.run(unprepared(pruneSql(table, clauses, limit), values))).count
    },
    exclusive: (table, key, work) => exclusive.run(table, key, work),
    async bytes() {
      if (bytes === undefined || performance.now() - bytes.at > BYTES_FOR_MS) {
        const { rows } = await database.run(SIZE)
        bytes = { value: Number(rows[0]?.[0]), at: performance.now() }
      }
      return bytes.value
    },
    ...readBack((statement) => database.run(statement)),
    async close() {
      await writes.end()
      await upkeep.end()
      if (pool.down === undefined) await database.use((connection) => markers.remove(connection)).catch(() => {})
      await pool.close()
    },
  }
}

/** Makes the database ready, on a connection of its own. */
const prepare = async (
  database: Database,
  tables: readonly Table[],
  upkeep: Upkeep,
  { advisory_locks, cluster }: Pick<DriverOptions, 'advisory_locks' | 'cluster'>,
): Promise<void> => {
  const { described } = database.target
  try {
    const connection = await database.first()
    try {
      await migrate(connection, { tables, advisory_locks, cluster, described })
      await upkeep.compareClock(connection)
    } finally {
      await connection.close()
    }
  } catch (error) {
    await upkeep.end()
    throw database.failures.atStart(error)
  }
}

const awayNote = ({ pool, target, describe }: Database): string =>
  `The database ${target.described} cannot be used: ${describe(pool.down)}.`

const SIZE = plain(
  `select coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_class c
   join pg_namespace n on n.oid = c.relnamespace where n.nspname = current_schema() and c.relkind in ('r', 'p')`,
)
