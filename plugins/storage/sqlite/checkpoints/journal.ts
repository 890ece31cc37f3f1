import { statSync } from 'node:fs'
import type { Start } from '../protocol.ts'

/** A change of so much is told. */
const TOLD_BYTES = 1024 * 1024
/** Rows of so many bytes may make it longer by fifteen times as much, for their indexes. */
const LOOK_BYTES = 65_536
/** The length that a journal is cut back to; from there on it is tried to begin it anew. */
export const KEPT_BYTES = 64 * 1024 * 1024

/** How long the journal is. It grows without end while somebody reads a state of the database that is as old: no page that came since can be moved. */
export class Journal {
  readonly #name: string
  readonly #most: number
  readonly #tell: (bytes: number) => void
  #told = 0
  #bytes = 0
  /** Of rows since the last look. */
  #unseen = 0

  /** `max_journal_bytes`: 0 for no limit. */
  constructor(
    { file, max_journal_bytes = 0 }: Pick<Start, 'file' | 'max_journal_bytes'>,
    tell: (bytes: number) => void,
  ) {
    this.#name = `${file}-wal`
    this.#most = max_journal_bytes
    this.#tell = tell
  }

  /** Rows of so many bytes, about, come to it; looks its length up where that may have changed it by much. */
  grown(bytes: number): void {
    this.#unseen += bytes
    if (this.#unseen >= LOOK_BYTES) this.look()
  }

  /** Looks its length up. */
  look(): void {
    this.#unseen = 0
    this.#bytes = statSync(this.#name, { throwIfNoEntry: false })?.size ?? 0
    if (Math.abs(this.#bytes - this.#told) < TOLD_BYTES && this.#bytes > 0 === this.#told > 0) return
    this.#told = this.#bytes
    this.#tell(this.#bytes)
  }

  /** It is longer than what is kept of it, or than it may be. */
  get isLong(): boolean {
    return this.#bytes > KEPT_BYTES || this.refusal !== undefined
  }

  /** Nothing may be added to it; why, in words. */
  get refusal(): string | undefined {
    if (this.#most === 0 || this.#bytes <= this.#most) return undefined
    return `the journal ${this.#name} has ${this.#bytes} bytes, and storage.max_journal_bytes allows ${this.#most}: another program reads the database in one long transaction; end it`
  }
}
