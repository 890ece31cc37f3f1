import type { Submittable, Connection as Wire } from 'pg'
import type { PgValue } from '../sql/values.ts'
import type { Result, Statement } from './statement.ts'

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
export class StatementRun implements Submittable {
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
