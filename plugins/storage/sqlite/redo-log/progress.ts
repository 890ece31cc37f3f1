import type { Database } from 'better-sqlite3'
import type { BatchValues, LogPosition } from '../protocol.ts'
import { Superseded } from './ownership.ts'

const numberOf = (batch: BatchValues): number => Number(batch[0])

/** Records the log position in the database, so that the next process knows which batches of the logs to replay. */
export class Progress {
  readonly #opened: LogPosition
  readonly #saveApplied: (applied: number) => void
  readonly #savePending: (pending: ReadonlySet<number>) => void
  /** Numbers of batches that failed and will be sent again, or that were refused while their caller has not handled that yet. */
  readonly #pending = new Set<number>()
  #isSaved: boolean
  #applied: number
  #highest: number

  constructor(db: Database, opened: LogPosition) {
    const applied = db.prepare('update guard_place set applied = ? where database = ?')
    const empty = db.prepare('delete from guard_left')
    const add = db.prepare('insert into guard_left values (?)')
    this.#saveApplied = (number) => {
      if (applied.run(number, opened.database).changes === 0) throw new Superseded(db.name)
    }
    this.#savePending = (pending) => {
      empty.run()
      for (const number of pending) add.run(number)
    }
    this.#opened = opened
    this.#isSaved = opened.pending.size === 0
    this.#applied = opened.applied
    this.#highest = opened.applied
  }

  /** All batches up to this number are written, or finally refused. */
  get applied(): number {
    return this.#applied
  }

  /** The pending batches have changed since they were saved. */
  get isUnsaved(): boolean {
    return !this.#isSaved
  }

  /** Whether a worker thread committed the batch and died before it could answer. */
  isApplied(batch: BatchValues): boolean {
    return isWritten(this.#opened, numberOf(batch))
  }

  /** Called in the transaction that writes the batches, all but those with the numbers `refused`. */
  record(batches: readonly BatchValues[], refused: readonly number[]): void {
    for (const batch of batches) {
      if (this.#pending.delete(numberOf(batch))) this.#isSaved = false
      this.#highest = Math.max(this.#highest, numberOf(batch))
    }
    for (const number of refused) this.#addPending(number)
    if (!this.#isSaved) this.#savePending(this.#pending)
    this.#saveApplied(this.#highest)
  }

  committed(): void {
    this.#isSaved = true
    if (this.#pending.size === 0) this.#applied = this.#highest
  }

  failed(batches: readonly BatchValues[]): void {
    for (const batch of batches) this.#addPending(numberOf(batch))
  }

  /** The batch will not be sent again, and its caller has handled that. */
  forget(number: number): void {
    if (this.#pending.delete(number)) this.#isSaved = false
  }

  #addPending(number: number): void {
    this.#pending.add(number)
    this.#isSaved = false
  }
}

/** Whether a database at this position holds the batch with this number. */
export const isWritten = ({ applied, pending }: LogPosition, number: number): boolean =>
  number <= applied && !pending.has(number)
