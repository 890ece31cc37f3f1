import type { Client, Submittable, Connection as Wire } from 'pg'
import type { PgValue } from '../sql/values.ts'
import type { Result, Statement } from './statement.ts'

/** One connection. It runs one list of statements at a time. */
export class Connection {
  readonly #client: Client
  readonly #prepared = new Set<string>()
  #running: StatementRun | undefined
  #started_at = 0
  #isBroken = false

  /** `client` need not be connected yet. */
  constructor(client: Client) {
    this.#client = client
    const fail = () => {
      this.#isBroken = true
    }
    client.on('error', fail)
    client.on('end', fail)
    const { connection } = client as unknown as { readonly connection: NodeJS.EventEmitter }
    connection.on('parseComplete', () => this.#running?.parsed())
  }

  /** It cannot be used any more. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** When its present statements began, on the clock of `performance.now()`; undefined while it has none. */
  get running_since(): number | undefined {
    return this.#running === undefined ? undefined : this.#started_at
  }

  onBroken(listener: () => void): void {
    this.#client.once('error', listener)
    this.#client.once('end', listener)
  }

  /** Runs the statements in one round trip, as one transaction unless one is open. Rejects with the first error of the server, or if the connection is lost. */
  async run(statements: readonly Statement[]): Promise<readonly Result[]> {
    try {
      this.#started_at = performance.now()
      return await new Promise<readonly Result[]>((resolve, reject) => {
        this.#running = new StatementRun(statements, this.#prepared, { resolve, reject })
        this.#client.query(this.#running)
      })
    } finally {
      this.#running = undefined
    }
  }

  /** Ends it at once, whatever runs. */
  destroy(): void {
    this.#isBroken = true
    const { connection } = this.#client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
    connection.stream.destroy()
  }

  async close(): Promise<void> {
    this.#isBroken = true
    await this.#client.end().catch(() => {})
  }
}

interface Message {
  readonly text?: string
  readonly fields?: readonly PgValue[]
}

/** What the types of `pg` leave out. */
interface Protocol {
  readonly stream: { cork?(): void; uncork?(): void }
  parse(query: { readonly name: string; readonly text: string }): void
  bind(config: { readonly portal: string; readonly statement: string; readonly values: readonly PgValue[] }): void
  execute(config: { readonly portal: string; readonly rows: number }): void
  sync(): void
}

/**
 * Statements that go to the server together and end in one `Sync`. The server runs them in order as one transaction, unless
 * one is open: a statement that fails undoes those before it, and those after it are skipped.
 */
class StatementRun implements Submittable {
  readonly #statements: readonly Statement[]
  readonly #prepared: Set<string>
  readonly #settle: { resolve(results: readonly Result[]): void; reject(error: unknown): void }
  /** Names that the server has still to confirm. */
  readonly #parsing: string[] = []
  readonly #results: Result[] = []
  #rows: PgValue[][] = []

  constructor(
    statements: readonly Statement[],
    prepared: Set<string>,
    settle: { resolve(results: readonly Result[]): void; reject(error: unknown): void },
  ) {
    this.#statements = statements
    this.#prepared = prepared
    this.#settle = settle
  }

  submit(connection: Wire): void {
    const wire = connection as unknown as Protocol
    wire.stream.cork?.()
    try {
      for (const { name = '', sql, values } of this.#statements) {
        if (name === '' || !(this.#prepared.has(name) || this.#parsing.includes(name))) {
          wire.parse({ name, text: sql })
          this.#parsing.push(name)
        }
        wire.bind({ portal: '', statement: name, values })
        wire.execute({ portal: '', rows: 0 })
      }
      wire.sync()
    } finally {
      wire.stream.uncork?.()
    }
  }

  /** The server has prepared the next of the names. */
  parsed(): void {
    const name = this.#parsing.shift()
    if (name) this.#prepared.add(name)
  }

  handleRowDescription(): void {}

  handleDataRow({ fields = [] }: Message): void {
    this.#rows.push(fields as PgValue[])
  }

  handleCommandComplete({ text = '' }: Message): void {
    this.#results.push({ rows: this.#rows, count: Number(/\d+$/.exec(text)?.[0] ?? 0) })
    this.#rows = []
  }

  handleEmptyQuery(): void {
    this.#results.push({ rows: [], count: 0 })
  }

  handlePortalSuspended(): void {}

  handleError(error: unknown): void {
    this.#settle.reject(error)
  }

  handleReadyForQuery(): void {
    this.#settle.resolve(this.#results)
  }
}
