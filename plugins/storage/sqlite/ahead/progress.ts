import type { Database } from 'better-sqlite3'
import type { BatchValues } from '../protocol.ts'
import type { Place } from './place.ts'

const numberOf = (batch: BatchValues): number => Number(batch[0])

/** Keeps note in the database of how far it is, so that the next process knows from where on to read the logs. */
export class Progress {
  readonly #note: (applied: number) => void
  /** Of batches that could not be written and will come again. */
  readonly #left = new Set<number>()
  #applied: number
  #highest: number

  constructor(db: Database, { applied }: Place) {
    const note = db.prepare('update guard_place set applied = ?')
    this.#note = (number) => void note.run(number)
    this.#applied = applied
    this.#highest = applied
  }

  /** All batches up to this number are written, or refused for good. */
  get applied(): number {
    return this.#applied
  }

  /** Whether a batch was committed by a thread that died before it could say so. */
  isApplied(batch: BatchValues): boolean {
    return numberOf(batch) <= this.#applied
  }

  /** Called in the transaction that writes the batches. */
  note(batches: readonly BatchValues[]): void {
    for (const batch of batches) {
      this.#left.delete(numberOf(batch))
      this.#highest = Math.max(this.#highest, numberOf(batch))
    }
    if (this.#left.size === 0) this.#note(this.#highest)
  }

  committed(): void {
    if (this.#left.size === 0) this.#applied = this.#highest
  }

  failed(batches: readonly BatchValues[]): void {
    for (const batch of batches) this.#left.add(numberOf(batch))
  }
}
