import { statSync } from 'node:fs'
import type { OpenOptions } from '../protocol.ts'

/** A change of the size by so much is reported. */
const REPORT_BYTES = 1024 * 1024
/** The journal is measured after so many bytes of rows. With their indexes they may add fifteen times as much. */
const MEASURE_BYTES = 65_536
/** SQLite truncates the journal to this size. Above it, checkpoints try to restart the journal. */
export const RETAINED_BYTES = 64 * 1024 * 1024

/** After so long the journal is written back: what was removed from the database still stands in it. */
const OLD_MS = 3_000

/** The size of the write-ahead journal (WAL). It grows as long as a reader holds an old snapshot: newer pages cannot be checkpointed then. */
export class Journal {
  readonly #name: string
  readonly #max_bytes: number
  readonly #report: (bytes: number) => void
  #reported = 0
  #bytes = 0
  /** When it was first seen to hold something, on the monotonic clock. */
  #begun_at: number | undefined
  /** Bytes of rows since the last measurement. */
  #unmeasured = 0

  /** `max_journal_bytes`: 0 for no limit. */
  constructor(
    { file, max_journal_bytes = 0 }: Pick<OpenOptions, 'file' | 'max_journal_bytes'>,
    report: (bytes: number) => void,
  ) {
    this.#name = `${file}-wal`
    this.#max_bytes = max_journal_bytes
    this.#report = report
  }

  /** Counts bytes of rows, about, that are written to the journal. Measures it when they may have changed its size by much. */
  add(bytes: number): void {
    this.#unmeasured += bytes
    if (this.#unmeasured >= MEASURE_BYTES) this.measure()
  }

  /** Reads the size of the file. */
  measure(): void {
    this.#unmeasured = 0
    this.#bytes = statSync(this.#name, { throwIfNoEntry: false })?.size ?? 0
    this.#begun_at = this.#bytes === 0 ? undefined : (this.#begun_at ?? performance.now())
    if (Math.abs(this.#bytes - this.#reported) < REPORT_BYTES && this.#bytes > 0 === this.#reported > 0) return
    this.#reported = this.#bytes
    this.#report(this.#bytes)
  }

  /** The journal is larger than `RETAINED_BYTES`, or than its limit. */
  get isLong(): boolean {
    return this.#bytes > RETAINED_BYTES || this.refusal !== undefined
  }

  /** It holds what was written a while ago. */
  get isOld(): boolean {
    return this.#begun_at !== undefined && performance.now() - this.#begun_at >= OLD_MS
  }

  /** Why nothing may be written to the journal; undefined if it may grow. */
  get refusal(): string | undefined {
    if (this.#max_bytes === 0 || this.#bytes <= this.#max_bytes) return undefined
    return `the journal ${this.#name} has ${this.#bytes} bytes, and storage.max_journal_bytes allows ${this.#max_bytes}: another program reads the database in one long transaction; end it`
  }
}
