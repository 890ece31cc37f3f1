import type { Database, Statement } from 'better-sqlite3'

/** Pages in the journal after which they are moved into the file: few enough that a commit behind it waits some milliseconds at most. */
const EVERY_PAGES = 1_000

type Row = readonly [busy: number, journal_pages: number, moved_pages: number]

/** Moves what the journal holds into the file, between groups and never while a reader would have to wait. */
export class Checkpoints {
  readonly #look: Statement
  readonly #move: Statement
  #next = EVERY_PAGES

  constructor(db: Database) {
    this.#look = db.prepare('pragma wal_checkpoint(noop)').raw()
    this.#move = db.prepare('pragma wal_checkpoint(passive)').raw()
  }

  /** Called after each commit. */
  committed(): void {
    const [, pages] = this.#look.get() as Row
    if (pages < this.#next) return
    this.#next = pages + EVERY_PAGES
    try {
      const [, journal, moved] = this.#move.get() as Row
      // pages that a long read still needs stay, and trying again at once would be in vain
      if (moved === journal) this.#next = EVERY_PAGES
    } catch {
      // nothing is lost: the journal keeps what was committed, and a disk that is full or broken fails the next commit
    }
  }
}
