import { setTimeout as delay } from 'node:timers/promises'
import { type DriverContext, GuardError } from 'guard-gateway/core'
import { connect, type Session } from './connection/connect.ts'
import type { Connection } from './connection/connection.ts'
import { Pool } from './connection/pool.ts'
import { isConflict, isLost, isStale, isTimeout, sqlState } from './connection/sql-errors.ts'
import type { Result, Statement } from './connection/statement.ts'
import { hidePassword, type Target, targetOf } from './connection/target.ts'
import { Failures } from './failures.ts'
import { State } from './state.ts'
import { unavailable } from './writes/batch.ts'

export interface DatabaseOptions extends Session {
  readonly url: string
  readonly pool: number
  /** How long what waits for a server that is away waits, in milliseconds. */
  readonly grace_ms: number
}

/** A server that is starting is waited for so long. */
const STARTING_MS = 10_000
const MAX_TRIES = 10

/** The database with its connections and its state. */
export class Database {
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

export const runOne = async (connection: Connection, statement: Statement): Promise<Result> =>
  (await connection.run([statement]))[0] ?? { rows: [], count: 0 }
