import { type DriverChange, type DriverReader, GuardError, type Table } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { KeyedQueue } from '#lib/keyed-queue'
import type { Connection } from './connection/connection.ts'
import type { Pool } from './connection/pool.ts'
import { isConflict, isLost, isRefused, isTimeout, sqlState } from './connection/sql-errors.ts'
import { plain } from './connection/statement.ts'
import { lockSql } from './sql/changes.ts'
import type { Statements } from './sql/statements.ts'
import { toPg } from './sql/values.ts'
import { unavailable } from './writes/batch.ts'
import type { BatchStatements } from './writes/batch-statements.ts'
import type { CommitMarkers } from './writes/commit-markers.ts'

type Work<T> = (read: DriverReader) => Promise<readonly [result: T, batch: readonly DriverChange[]]>

export interface ExclusiveOptions {
  /** How many pieces of work have a connection at once. */
  readonly most: number
  readonly grace_ms: number
  readonly describe: (error: unknown) => string
  /** Reads on this connection. */
  readonly reader: (connection: Connection) => DriverReader
}

/**
 * Runs work under an exclusive lock on a row. The lock is a row of `guard_locks` that the transaction inserts and deletes: a second
 * one waits for the first to end, whether or not the row itself exists. The row is locked too, so that writes of it wait.
 */
export class Exclusive {
  readonly #pool: Pool
  readonly #markers: CommitMarkers
  readonly #batches: BatchStatements
  readonly #statements: Statements
  readonly #options: ExclusiveOptions
  /** Work of this process on one row waits here, and not on the server with a connection each. */
  readonly #rows = new KeyedQueue()
  readonly #slots: KeyedQueue[] = []
  #next = 0

  constructor(
    pool: Pool,
    markers: CommitMarkers,
    batches: BatchStatements,
    statements: Statements,
    options: ExclusiveOptions,
  ) {
    this.#pool = pool
    this.#markers = markers
    this.#batches = batches
    this.#statements = statements
    this.#options = options
    for (let slot = 0; slot < options.most; slot++) this.#slots.push(new KeyedQueue())
  }

  run<T>(table: Table, key: readonly string[], work: Work<T>): Promise<T> {
    return this.#rows.run(`${table.id}\0${key.join('\0')}`, () => this.#inSlot(() => this.#locked(table, key, work)))
  }

  #inSlot<T>(work: () => Promise<T>): Promise<T> {
    const free = this.#slots.find(({ size }) => size === 0) ?? this.#slots[this.#next++ % this.#slots.length]
    return free === undefined ? work() : free.run('slot', work)
  }

  async #locked<T>(table: Table, key: readonly string[], work: Work<T>): Promise<T> {
    const name = sha256(`${table.id}\0${key.join('\0')}`)
    const connection = await this.#lock(table, key, name)
    try {
      const [result, batch] = await work(this.#options.reader(connection))
      await this.#commit(connection, batch, name)
      return result
    } catch (error) {
      if (!connection.isBroken) await connection.run([plain('rollback')]).catch(() => connection.destroy())
      // the work may throw what it likes
      throw sqlState(error) !== undefined || connection.isBroken ? this.#refusal(error) : error
    } finally {
      this.#pool.release(connection)
    }
  }

  /** Begins a transaction that has the lock, on a new connection if one was lost. */
  async #lock(table: Table, key: readonly string[], name: string): Promise<Connection> {
    const until = performance.now() + this.#options.grace_ms
    const values = key.map((part) => toPg('key', 'text', part))
    const row = this.#statements.prepared(`lock ${table.id}`, () => lockSql(table), values)
    const lock = { name: 'guard_lock', sql: 'insert into guard_locks (name) values ($1)', values: [name] }
    for (;;) {
      const connection = await this.#connection(until, '')
      try {
        await connection.run([plain('begin'), lock, row])
        return connection
      } catch (error) {
        await this.#giveBack(connection, error)
        if (performance.now() > until || !(isLost(error) || isConflict(error))) throw this.#refusal(error)
      }
    }
  }

  #connection(until: number, more: string): Promise<Connection> {
    return this.#pool.acquire(until).catch((error: unknown) => {
      throw unavailable(`${this.#options.describe(error)}${more}`)
    })
  }

  async #giveBack(connection: Connection, error: unknown): Promise<void> {
    if (isLost(error)) connection.destroy()
    else await connection.run([plain('rollback')]).catch(() => connection.destroy())
    this.#pool.release(connection)
  }

  #refusal(error: unknown): Error {
    if (error instanceof GuardError) return error
    return isTimeout(error) || isConflict(error)
      ? new GuardError('STORAGE_BUSY', undefined, { cause: error })
      : unavailable(this.#options.describe(error))
  }

  async #commit(connection: Connection, batch: readonly DriverChange[], name: string): Promise<void> {
    const number = this.#markers.begin()
    const unlock = { name: 'guard_unlock', sql: 'delete from guard_locks where name = $1', values: [name] }
    const mark = this.#markers.statement(number)
    try {
      await connection.run([...this.#batches.of(batch, 'raise'), unlock, mark, plain('commit')])
    } catch (error) {
      if (isRefused(error)) throw new GuardError('STORAGE_BUSY', undefined, { cause: error })
      if (!isLost(error)) throw error
      connection.destroy()
      await this.#findOut(number)
    } finally {
      this.#markers.end(number)
    }
  }

  /** The connection was lost: returns if the work was committed, else throws. */
  async #findOut(number: number): Promise<void> {
    const until = performance.now() + this.#options.grace_ms
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const connection = await this.#connection(until, UNKNOWN)
      try {
        if (await this.#markers.wasCommitted(connection, number)) return
        throw new GuardError('STORAGE_BUSY')
      } catch (error) {
        if (isLost(error)) connection.destroy()
        else if (!isTimeout(error)) throw error
      } finally {
        this.#pool.release(connection)
      }
    }
    throw unavailable(`the connection is lost again and again${UNKNOWN}`)
  }
}

const MAX_TRIES = 10
const UNKNOWN = '; whether this work was written is not known'
