import { bytesText } from 'guard-gateway/lib/format'

/** A journal of so many bytes or more gets a note. */
const WARN_BYTES = 256 * 1024 * 1024

/** The notes of the storage in the health report: what an operator must know beside its state. */
export class Notes {
  readonly #permanent = new Set<string>()
  readonly #warn_bytes: number
  /** Size of the journal in bytes; 0 until the worker has reported it. */
  journal_bytes = 0

  /** `max_journal_bytes`: nothing is written while the journal is larger; 0: no limit. */
  constructor(max_journal_bytes = 0) {
    this.#warn_bytes = max_journal_bytes === 0 ? WARN_BYTES : Math.min(max_journal_bytes, WARN_BYTES)
  }

  /** Adds a note that stays until the process ends. */
  add(note: string): void {
    this.#permanent.add(note)
  }

  get all(): readonly string[] {
    if (this.journal_bytes < this.#warn_bytes) return [...this.#permanent]
    return [
      ...this.#permanent,
      `The journal of the database has ${bytesText(this.journal_bytes)}: another program (an sqlite3 shell, a backup) reads the database in one long transaction, and until that ends the journal grows. End it; what is open shows: lsof <file>-wal. It is cut back by itself then.`,
    ]
  }
}
