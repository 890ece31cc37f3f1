import type { Database, Statement } from 'better-sqlite3'

/**
 * Pages in the journal after which they are moved into the file. Many together cost less, since most were written more than once;
 * few let a commit behind them wait no more than some milliseconds.
 */
const PAGES = { busy: 4_000, quiet: 1_000 }

type Row = readonly [busy: number, journal_pages: number, moved_pages: number]

/** Moves what the journal holds into the file, between groups and never while a reader would have to wait. */
export class Checkpoints {
  readonly #look: Statement
  readonly #move: Statement
  /** Pages that could not be moved the last time. */
  #held = 0

  constructor(db: Database) {
    this.#look = db.prepare('pragma wal_checkpoint(noop)').raw()
    this.#move = db.prepare('pragma wal_checkpoint(passive)').raw()
  }

  /** Called after each commit; `busy`: several batches shared it. */
  committed(busy: boolean): void {
    const [, pages] = this.#look.get() as Row
    if (pages < this.#held + (busy ? PAGES.busy : PAGES.quiet)) return
    this.#held = pages
    try {
      const [, journal, moved] = this.#move.get() as Row
      // pages that a long read still needs stay, and trying again at once would be in vain
      if (moved === journal) this.#held = 0
    } catch {
      // nothing is lost: the journal keeps what was committed, and a disk that is full or broken fails the next commit
    }
  }
}
