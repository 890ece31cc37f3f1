import type { Client } from 'pg'
import type { Result, Statement } from './statement.ts'
import { StatementRun } from './statement-run.ts'

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
