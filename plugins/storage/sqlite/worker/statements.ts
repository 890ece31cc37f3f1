import type { Database, Statement } from 'better-sqlite3'

const MAX = 500

/** Prepared statements by SQL text, the least recently used thrown out first. */
export class Statements {
  readonly #db: Database
  readonly #kept = new Map<string, Statement>()

  constructor(db: Database) {
    this.#db = db
  }

  get(text: string): Statement {
    const kept = this.#kept.get(text)
    const statement = kept ?? this.#db.prepare(text)
    if (kept !== undefined) this.#kept.delete(text)
    else if (this.#kept.size >= MAX) {
      const [oldest] = this.#kept.keys()
      this.#kept.delete(oldest ?? '')
    }
    this.#kept.set(text, statement)
    return statement
  }
}
