import type { Database, Statement } from 'better-sqlite3'

/**
 * A checkpoint starts after so many new pages in the journal. A larger checkpoint costs less for each page, since most pages were
 * written more than once.
 */
const START_PAGES = { busy: 4_000, quiet: 1_000 }
/** The status of the journal is read after so many bytes: that takes as long as writing two rows. */
const STATUS_BYTES = 32_768
/** What a commit adds to the bytes of its rows. */
const COMMIT_BYTES = 2_048
/** Above so many pages the journal should restart, for which all of its pages must be checkpointed. */
const RESTART_PAGES = 4_000
/** So many pages the writer checkpoints itself: that is no long wait. */
const FEW_PAGES = 500
/** Above so many pages the writer checkpoints them itself, however many are left. */
const FORCE_PAGES = 8_000

type Row = readonly [busy: number, journal_pages: number, checkpointed_pages: number]

/** Checkpoints in another thread, while the writer goes on. */
export interface BackgroundCheckpoint {
  /** A checkpoint was started and has not ended. */
  readonly isRunning: boolean
  /** Starts a checkpoint; false if that is impossible. */
  start(): boolean
}

/**
 * Decides when to checkpoint: to copy the pages of the journal into the database file. No reader ever waits for that.
 * Another thread does it, so that no commit waits for the disk. The writer itself checkpoints the few pages that were added meanwhile,
 * between two groups, so that the journal can restart.
 */
export class Checkpoints {
  readonly #status: Statement
  readonly #passive: Statement
  readonly #truncate: { get(): void }
  readonly #background: BackgroundCheckpoint
  /** Pages of the journal at the end of the last checkpoint; 0 after the journal has restarted. */
  #pages_at_end = 0
  #isRunning = false
  /** Bytes since the last status. */
  #bytes = STATUS_BYTES

  constructor(db: Database, background: BackgroundCheckpoint) {
    this.#status = db.prepare('pragma wal_checkpoint(noop)').raw()
    this.#passive = db.prepare('pragma wal_checkpoint(passive)').raw()
    const setBusyTimeout = (ms: number) => db.pragma(`busy_timeout = ${ms}`)
    const truncate = db.prepare('pragma wal_checkpoint(truncate)').raw()
    this.#truncate = {
      // without a timeout: this never waits for a reader
      get: () => {
        const before = Number(db.pragma('busy_timeout', { simple: true }))
        setBusyTimeout(0)
        try {
          truncate.get()
        } finally {
          setBusyTimeout(before)
        }
      },
    }
    this.#background = background
  }

  /** Called after each commit. `busy`: it wrote several batches. `bytes`: the size of its rows, about. */
  committed(busy: boolean, bytes: number): void {
    this.#bytes += bytes + COMMIT_BYTES
    if (this.#isRunning ? this.#background.isRunning : this.#bytes < STATUS_BYTES) return
    this.#bytes = 0
    const [, pages, moved] = this.#status.get() as Row
    if (pages < this.#pages_at_end) this.#pages_at_end = 0
    // pages that a long read still needs stay in the journal, so another try at once would be useless
    const fresh = pages - Math.max(moved, this.#pages_at_end)
    if (this.#isRunning) this.#ended(pages, pages - moved)
    else if (fresh >= (busy ? START_PAGES.busy : START_PAGES.quiet)) this.#start(pages)
  }

  /** Called from time to time while the journal is large or old: checkpoints pages that readers have released, then truncates the journal if no reader uses it. */
  truncate(): void {
    if (this.#isRunning) {
      if (this.#background.isRunning) return
      this.#isRunning = false
    }
    try {
      const [, pages, moved] = this.#status.get() as Row
      if (pages - moved > FEW_PAGES) this.#start(pages)
      else this.#truncate.get()
    } catch {
      // as in #checkpoint
    }
  }

  #start(pages: number): void {
    this.#isRunning = this.#background.start()
    if (!this.#isRunning) this.#checkpoint(pages)
  }

  #ended(pages: number, left: number): void {
    this.#isRunning = false
    if (pages >= RESTART_PAGES && (left <= FEW_PAGES || pages >= FORCE_PAGES)) this.#checkpoint(pages)
    else this.#pages_at_end = pages
  }

  #checkpoint(pages: number): void {
    this.#pages_at_end = pages
    try {
      this.#passive.get()
    } catch {
      // nothing is lost: the journal keeps all commits, and a full or broken disk fails the next commit
    }
  }
}
