import type { Database, Statement } from 'better-sqlite3'

/**
 * Pages that have come to the journal since the last ones were moved, after which the next are. Many together cost less,
 * since most were written more than once.
 */
const PAGES = { busy: 4_000, quiet: 1_000 }
/** How much is written before the journal's length is looked up: that takes as long as writing two rows. */
const LOOK_BYTES = 32_768
/** What a commit counts for beside its rows. */
const COMMIT_BYTES = 2_048
/** From this length on the journal is to begin anew, for which nothing may be left in it. */
const LONG = 4_000
/** Pages whose move keeps nobody waiting for long. */
const FEW = 500
/** From this length on it does not matter how many they are. */
const TOO_LONG = 8_000

type Row = readonly [busy: number, journal_pages: number, moved_pages: number]

/** Moves pages while the writer goes on. */
export interface Mover {
  /** It was told to and has not come to the end. */
  readonly isMoving: boolean
  /** Begins; false if it cannot. */
  move(): boolean
}

/**
 * Moves what the journal holds into the file, never while a reader would have to wait. Another thread does it, since no commit
 * should wait for a disk; what has come meanwhile is moved between two groups, so that the journal can begin anew.
 */
export class Checkpoints {
  readonly #look: Statement
  readonly #move: Statement
  readonly #cut: { get(): void }
  readonly #mover: Mover
  /** Pages of the journal when the last try to move them had ended; 0 once it has begun anew. */
  #tried = 0
  #isTrying = false
  /** Since the last look. */
  #bytes = LOOK_BYTES

  constructor(db: Database, mover: Mover) {
    this.#look = db.prepare('pragma wal_checkpoint(noop)').raw()
    this.#move = db.prepare('pragma wal_checkpoint(passive)').raw()
    const patience = (ms: number) => db.pragma(`busy_timeout = ${ms}`)
    const cut = db.prepare('pragma wal_checkpoint(truncate)').raw()
    this.#cut = {
      // nobody waits for a reader
      get: () => {
        const before = Number(db.pragma('busy_timeout', { simple: true }))
        patience(0)
        try {
          cut.get()
        } finally {
          patience(before)
        }
      },
    }
    this.#mover = mover
  }

  /** Called after each commit; `busy`: several batches shared it; `bytes`: size of its rows, about. */
  committed(busy: boolean, bytes: number): void {
    this.#bytes += bytes + COMMIT_BYTES
    if (this.#isTrying ? this.#mover.isMoving : this.#bytes < LOOK_BYTES) return
    this.#bytes = 0
    const [, pages, moved] = this.#look.get() as Row
    if (pages < this.#tried) this.#tried = 0
    // pages that a long read still needs stay, and trying again at once would be in vain
    const fresh = pages - Math.max(moved, this.#tried)
    if (this.#isTrying) this.#tryEnded(pages, pages - moved)
    else if (fresh >= (busy ? PAGES.busy : PAGES.quiet)) this.#try(pages)
  }

  /** Called from time to time while the journal is long: moves what a reader has let go of, and cuts the journal back once all is moved and nobody reads it. */
  shorten(): void {
    if (this.#isTrying) {
      if (this.#mover.isMoving) return
      this.#isTrying = false
    }
    try {
      const [, pages, moved] = this.#look.get() as Row
      if (pages > moved) this.#try(pages)
      else this.#cut.get()
    } catch {
      // as with a move
    }
  }

  #try(pages: number): void {
    this.#isTrying = this.#mover.move()
    if (!this.#isTrying) this.#moveAll(pages)
  }

  #tryEnded(pages: number, left: number): void {
    this.#isTrying = false
    if (pages >= LONG && (left <= FEW || pages >= TOO_LONG)) this.#moveAll(pages)
    else this.#tried = pages
  }

  #moveAll(pages: number): void {
    this.#tried = pages
    try {
      this.#move.get()
    } catch {
      // nothing is lost: the journal keeps what was committed, and a disk that is full or broken fails the next commit
    }
  }
}
