import { bytesText } from 'guard-gateway/lib/format'

/** From this length on health says so. */
const LONG_BYTES = 256 * 1024 * 1024

/** What whoever runs a gateway has to know of its storage beside its state. */
export class Notes {
  readonly #lasting = new Set<string>()
  readonly #long: number
  /** Length of the journal; 0 until it is known. */
  journal_bytes = 0

  /** `most`: from so many bytes of the journal on nothing is written; 0: there is no such limit. */
  constructor(most = 0) {
    this.#long = most === 0 ? LONG_BYTES : Math.min(most, LONG_BYTES)
  }

  /** Said until the end of the process. */
  add(note: string): void {
    this.#lasting.add(note)
  }

  get all(): readonly string[] {
    if (this.journal_bytes < this.#long) return [...this.#lasting]
    return [
      ...this.#lasting,
      `The journal of the database has ${bytesText(this.journal_bytes)}: another program (an sqlite3 shell, a backup) reads the database in one long transaction, and until that ends the journal grows. End it; what is open shows: lsof <file>-wal. It is cut back by itself then.`,
    ]
  }
}
