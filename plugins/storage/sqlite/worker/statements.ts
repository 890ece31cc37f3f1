import type { Database, Statement } from 'better-sqlite3'

const MAX_STATEMENTS = 500

/** A cache of prepared statements by SQL text. It evicts the least recently used one. */
export class Statements {
  readonly #db: Database
  readonly #cache = new Map<string, Statement>()

  constructor(db: Database) {
    this.#db = db
  }

  get(text: string): Statement {
    const cached = this.#cache.get(text)
    const statement = cached ?? this.#db.prepare(text)
    if (cached !== undefined) this.#cache.delete(text)
    else if (this.#cache.size >= MAX_STATEMENTS) {
      const [oldest] = this.#cache.keys()
      this.#cache.delete(oldest ?? '')
    }
    this.#cache.set(text, statement)
    return statement
  }
}
