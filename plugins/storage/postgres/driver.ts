import { setTimeout as delay } from 'node:timers/promises'
import { type Driver, type DriverContext, GuardError, type RowTokens, type Table } from 'guard-gateway/core'
import { sql } from 'kysely'
import { compiled } from '../kysely/query.ts'
import { State } from '../kysely/state.ts'
import { connect, type Session } from './connection/connect.ts'
import type { Connection } from './connection/connection.ts'
import { Pool } from './connection/pool.ts'
import { isConflict, isLost, isStale, isTimeout, sqlState } from './connection/sql-errors.ts'
import { plain, type Result, type Statement } from './connection/statement.ts'
import { hidePassword, type Target, targetOf } from './connection/target.ts'
import { Exclusive } from './exclusive.ts'
import { Failures } from './failures.ts'
import { migrate } from './migrate.ts'
import { ReadCache, Reads, whereOf } from './reads.ts'
import { pruneSql } from './sql/changes.ts'
import { compiler } from './sql/compiler.ts'
import { Statements, unprepared } from './sql/statements.ts'
import { indexable } from './sql/tokens.ts'
import { unavailable } from './writes/batch.ts'
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
    sum: (table, query) => reads.sum(table, query),
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

const PAGE_ROWS = 1_000

/** What only copies read: the tokens of rows, and the names of all tables. */
const readBack = (
  run: (statement: Statement) => Promise<Result>,
): Required<Pick<Driver, 'tokens' | 'storedTables' | 'storedTokens'>> => ({
  async *tokens({ id, columns }, after) {
    const column = Object.keys(columns).find((name) => columns[name] === 'search') ?? ''
    const page = compiled(
      compiler
        .selectFrom(id)
        .select(['recorded', sql`array_to_json(tsvector_to_array(${sql.ref(column)}))`.as('tokens')])
        .where(sql<boolean>`recorded > ${0}::bigint and ${sql.ref(column)} is not null`)
        .orderBy('recorded')
        .limit(sql.lit(PAGE_ROWS)),
    )
    let last = String(after)
    for (;;) {
      const { rows } = await run(unprepared(page, [last]))
      for (const [recorded, tokens] of rows)
        yield { recorded: Number(recorded), tokens: JSON.parse(tokens ?? '[]') } satisfies RowTokens
      if (rows.length < PAGE_ROWS) return
      last = rows.at(-1)?.[0] ?? last
    }
  },
  storedTokens: indexable,
  async storedTables() {
    const { rows } = await run(TABLES)
    return rows.map(([name]) => name ?? '')
  },
})

/** Those of the backend itself begin with `guard_`, those of other programs have no column `recorded`. */
const TABLES = plain(
  `select table_name from information_schema.columns
   where table_schema = current_schema() and column_name = 'recorded' and table_name not like 'guard\\_%'`,
)

const EVERY_MS = 2_000
const CLOCK_EVERY_MS = 600_000
const OLD_EVERY_MS = 3_600_000
/** So many markers are removed at once, or fewer when nothing is written. */
const MANY_MARKERS = 1_000
/** Clocks that differ by more get a note. */
const CLOCK_LIMIT_MS = 5_000

interface UpkeepDependencies {
  readonly markers: CommitMarkers
  /** Runs work on a connection, if the server is there. */
  readonly use: (work: (connection: Connection) => Promise<void>) => Promise<void>
  /** Whether it is not known to be possible to write. */
  readonly isDown: () => boolean
  /** It is possible to write again. */
  readonly onWritable: () => void
}

/** What is done now and then: markers are removed, the clock is compared, and a storage that could not be written is tried. */
class Upkeep {
  readonly #dependencies: UpkeepDependencies
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #clock_at = 0
  #old_at = 0
  #written = 0
  #clock_note: string | undefined

  constructor(dependencies: UpkeepDependencies) {
    this.#dependencies = dependencies
    this.#timer = setInterval(() => this.#start(), EVERY_MS).unref()
  }

  /** What is to be said of the clock; undefined if nothing. */
  get clock_note(): string | undefined {
    return this.#clock_note
  }

  /** Compares the clocks. */
  async compareClock(connection: Connection): Promise<void> {
    const before = Date.now()
    const [result] = await connection.run([plain('select extract(epoch from clock_timestamp()) * 1000')])
    const middle = (before + Date.now()) / 2
    this.#clock_note = clockNote(middle - Number(result?.rows[0]?.[0]))
    this.#clock_at = performance.now()
  }

  /** Stops. Resolves when nothing of it runs any more. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.#running
  }

  #start(): void {
    const { use } = this.#dependencies
    // a server that is away is the pool's affair
    this.#running = this.#running.then(() => use((connection) => this.#round(connection))).catch(() => {})
  }

  async #round(connection: Connection): Promise<void> {
    const { markers, isDown, onWritable } = this.#dependencies
    if (isDown()) await this.#probe(connection).then(onWritable)
    const { surplus } = markers
    if (surplus > MANY_MARKERS || (surplus > 0 && surplus === this.#written)) await markers.remove(connection)
    this.#written = markers.surplus
    const now = performance.now()
    if (now - this.#clock_at > CLOCK_EVERY_MS) await this.compareClock(connection)
    if (now - this.#old_at < OLD_EVERY_MS) return
    this.#old_at = now
    await markers.removeOld(connection)
  }

  /** Writes something small. */
  async #probe(connection: Connection): Promise<void> {
    const { markers } = this.#dependencies
    const number = markers.begin()
    try {
      await connection.run([markers.statement(number)])
    } finally {
      markers.end(number)
    }
  }
}

/** `ahead_ms`: how far the clock of this process is ahead of that of the database. */
const clockNote = (ahead_ms: number): string | undefined => {
  if (Math.abs(ahead_ms) <= CLOCK_LIMIT_MS) return undefined
  const seconds = Math.round(Math.abs(ahead_ms) / 1_000)
  const way = ahead_ms > 0 ? 'ahead of' : 'behind'
  return `The clock of this process is ${seconds} s ${way} that of the database: times of its records are wrong by so much. Set the clocks by NTP.`
}

interface DatabaseOptions extends Session {
  readonly url: string
  readonly pool: number
  /** How long what waits for a server that is away waits, in milliseconds. */
  readonly grace_ms: number
}

/** A server that is starting is waited for so long. */
const STARTING_MS = 10_000
const MAX_TRIES = 10

/** The database with its connections and its state. */
class Database {
  readonly target: Target
  readonly failures: Failures
  readonly state = new State()
  readonly pool: Pool
  readonly #options: DatabaseOptions
  readonly #fault: DriverContext['fault']
  #down_since: number | undefined
  /** Called at each try to connect that fails. */
  onDown: (error: unknown) => void = () => {}

  /** Throws INVALID_CONFIG if the URL cannot be used. */
  constructor(options: DatabaseOptions, fault: DriverContext['fault']) {
    this.#options = options
    this.#fault = fault
    this.target = targetOf(options.url)
    this.failures = new Failures(this.target, hidePassword(this.target))
    this.pool = new Pool({
      size: options.pool,
      hung_ms: Math.max(options.statement_timeout_ms, options.lock_timeout_ms) + options.grace_ms,
      open: () => connect(this.target, options),
      onDown: (error) => this.#isDown(error),
      onUp: () => this.#isUp(),
    })
  }

  /** What is the matter, in words. */
  readonly describe = (error: unknown): string => this.failures.describe(error)

  /** Connects for work that may take long. Waits for a server that is starting. */
  async first(): Promise<Connection> {
    const until = performance.now() + STARTING_MS
    for (;;) {
      try {
        return await connect(this.target, { ...this.#options, statement_timeout_ms: 0 })
      } catch (error) {
        if (sqlState(error) !== '57P03' || performance.now() > until) throw error
        await delay(200)
      }
    }
  }

  /** Runs work on a connection, and again on another one if the connection is lost: the work only reads, or may be repeated. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const until = performance.now() + this.#options.grace_ms
    for (let tries = 1; ; tries++) {
      const connection = await this.pool.acquire(until).catch((error: unknown) => {
        throw unavailable(this.describe(error))
      })
      try {
        return await work(connection)
      } catch (error) {
        if (!this.#mayRepeat(connection, error) || tries === MAX_TRIES) throw this.#refusal(error)
      } finally {
        this.pool.release(connection)
      }
    }
  }

  /** Runs one statement that only reads, or may be repeated. */
  run(statement: Statement): Promise<Result> {
    return this.use((connection) => runOne(connection, statement))
  }

  #mayRepeat(connection: Connection, error: unknown): boolean {
    const isGone = isLost(error) || isStale(error)
    if (isGone) connection.destroy()
    return isGone || isConflict(error)
  }

  #refusal(error: unknown): Error {
    if (error instanceof GuardError) return error
    if (isTimeout(error)) return new GuardError('STORAGE_BUSY', `The database took too long: ${this.describe(error)}.`)
    if (isLost(error)) return unavailable(this.describe(error))
    return new Error(`The database refused a statement: ${this.failures.message(error)}`)
  }

  #isDown(error: unknown): void {
    this.#down_since ??= performance.now()
    const isLong = performance.now() - this.#down_since >= this.#options.grace_ms
    if (isLong && this.state.now !== 'failing')
      this.#fault(new Error(`The database ${this.target.described}: ${this.describe(error)}.`), 'storage:postgres')
    if (isLong) this.state.set('failing')
    else if (this.state.now === 'ok') this.state.set('busy')
    this.onDown(error)
  }

  #isUp(): void {
    if (this.#down_since === undefined) return
    this.#down_since = undefined
    this.state.set('ok')
  }
}

const runOne = async (connection: Connection, statement: Statement): Promise<Result> =>
  (await connection.run([statement]))[0] ?? { rows: [], count: 0 }
