import type { Connection } from './connection.ts'
import { isTooMany } from './sql-errors.ts'

export interface PoolOptions {
  /** The most connections. */
  readonly size: number
  /** A connection whose statements take longer has lost its server. */
  readonly hung_ms: number
  readonly open: () => Promise<Connection>
  /** A connection could not be opened. It is called at each try. */
  readonly onDown: (error: unknown) => void
  /** A connection was opened, for the first time or after it could not be. */
  readonly onUp: () => void
}

interface Waiter {
  readonly resolve: (connection: Connection) => void
  readonly reject: (error: unknown) => void
  /** When it gives up if the server is away, on the clock of `performance.now()`. */
  readonly until: number
}

/** A handful of connections, opened when they are needed and again when they are lost. Each is with one user at a time; users wait in order. */
export class Pool {
  readonly #options: PoolOptions
  readonly #all = new Set<Connection>()
  readonly #idle: Connection[] = []
  #waiters: Waiter[] = []
  #opening = 0
  #tries = 0
  /** The error of the last try to open one, while the server is away. */
  #down: unknown
  #retry: NodeJS.Timeout | undefined
  #watch: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Someone waits for a connection. */
  get isAwaited(): boolean {
    return this.#waiters.length > 0
  }

  /** The error of the last try to open a connection, while none can be opened; undefined if the server is there. */
  get down(): unknown {
    return this.#down
  }

  /** Adds a connection that is open already. */
  add(connection: Connection): void {
    this.#all.add(connection)
    connection.onBroken(() => this.#drop(connection))
    this.#watch ??= setInterval(() => this.#endHung(), 1_000).unref()
    this.#offer(connection)
  }

  /** Resolves to a connection, which must be given back. While the server is away it rejects after `until`, with the error of the last try. */
  acquire(until: number): Promise<Connection> {
    const idle = this.#idle.pop()
    if (idle !== undefined) return Promise.resolve(idle)
    if (this.#isClosed) return Promise.reject(new Error('the pool is closed'))
    if (this.#down !== undefined && performance.now() > until) return Promise.reject(this.#down)
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject, until })
      this.#openIfNeeded()
    })
  }

  /** Gives a connection back. A broken one is replaced when it is needed. */
  release(connection: Connection): void {
    if (connection.isBroken || this.#isClosed) this.#drop(connection)
    else this.#offer(connection)
    this.#openIfNeeded()
  }

  /** Ends the connections. Nobody may have one any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    clearInterval(this.#watch)
    for (const { reject } of this.#waiters) reject(new Error('the pool is closed'))
    this.#waiters = []
    await Promise.all([...this.#all].map((connection) => connection.close()))
  }

  #offer(connection: Connection): void {
    const waiter = this.#waiters.shift()
    if (waiter === undefined) this.#idle.push(connection)
    else waiter.resolve(connection)
  }

  #drop(connection: Connection): void {
    if (!this.#all.delete(connection)) return
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
    connection.destroy()
  }

  #openIfNeeded(): void {
    // while the server is away one try at a time is enough
    const most = this.#down === undefined ? this.#options.size - this.#all.size : 1
    while (this.#opening < Math.min(most, this.#waiters.length) && this.#retry === undefined && !this.#isClosed)
      void this.#open()
  }

  async #open(): Promise<void> {
    this.#opening++
    try {
      const connection = await this.#options.open()
      this.#opening--
      this.#opened(connection)
    } catch (error) {
      this.#opening--
      this.#failed(error)
    }
  }

  #opened(connection: Connection): void {
    if (this.#isClosed) {
      connection.destroy()
      return
    }
    this.#down = undefined
    this.#tries = 0
    this.add(connection)
    this.#options.onUp()
    this.#openIfNeeded()
  }

  #failed(error: unknown): void {
    if (this.#isClosed) return
    // the server takes no more connections, but those that there are work
    if (!(isTooMany(error) && this.#all.size > 0)) {
      this.#down = error
      this.#giveUp(error)
      this.#options.onDown(error)
    }
    this.#retry ??= setTimeout(
      () => {
        this.#retry = undefined
        if (this.#waiters.length > 0) this.#openIfNeeded()
        else if (this.#down !== undefined && this.#opening === 0) void this.#open()
      },
      backoff(this.#tries++),
    ).unref()
  }

  #giveUp(error: unknown): void {
    const now = performance.now()
    const late = this.#waiters.filter(({ until }) => until < now)
    this.#waiters = this.#waiters.filter(({ until }) => until >= now)
    for (const { reject } of late) reject(error)
  }

  #endHung(): void {
    const now = performance.now()
    for (const connection of this.#all)
      if (now - (connection.running_since ?? now) > this.#options.hung_ms) connection.destroy()
  }
}

/** The time before the next try in milliseconds: twice as long each time, from 100 up to 5,000, and a random half of it less, so that many processes do not come at once. */
export const backoff = (tries: number): number =>
  Math.min(5_000, 100 * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2)
