import type { Database, Statement } from 'better-sqlite3'
import { LRU } from 'tiny-lru'

const MAX_STATEMENTS = 500

/** A cache of prepared statements by SQL text. It evicts the least recently used one. */
export class Statements {
  readonly #db: Database
  readonly #cache = new LRU<Statement>(MAX_STATEMENTS)

  constructor(db: Database) {
    this.#db = db
  }

  get(text: string): Statement {
    const cached = this.#cache.get(text)
    if (cached !== undefined) return cached
    const statement = this.#db.prepare(text)
    this.#cache.set(text, statement)
    return statement
  }
}
