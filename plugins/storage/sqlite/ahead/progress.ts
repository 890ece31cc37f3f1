import type { Database } from 'better-sqlite3'
import type { BatchValues } from '../protocol.ts'
import { Superseded } from './ownership.ts'
import type { Place } from './place.ts'

const numberOf = (batch: BatchValues): number => Number(batch[0])

/** Keeps note in the database of how far it is, so that the next process knows what of the logs to read. */
export class Progress {
  readonly #start: Place
  readonly #noteApplied: (applied: number) => void
  readonly #noteLeft: (left: ReadonlySet<number>) => void
  /** Of batches that could not be written and will come again, or were refused and are not made good yet. */
  readonly #left = new Set<number>()
  #isNoted: boolean
  #applied: number
  #highest: number

  constructor(db: Database, start: Place) {
    const applied = db.prepare('update guard_place set applied = ? where database = ?')
    const empty = db.prepare('delete from guard_left')
    const add = db.prepare('insert into guard_left values (?)')
    this.#noteApplied = (number) => {
      if (applied.run(number, start.database).changes === 0) throw new Superseded(db.name)
    }
    this.#noteLeft = (left) => {
      empty.run()
      for (const number of left) add.run(number)
    }
    this.#start = start
    this.#isNoted = start.left.size === 0
    this.#applied = start.applied
    this.#highest = start.applied
  }

  /** All batches up to this number are written, or refused for good. */
  get applied(): number {
    return this.#applied
  }

  /** What is left has changed since it was noted. */
  get isBehind(): boolean {
    return !this.#isNoted
  }

  /** Whether a batch was committed by a thread that died before it could say so. */
  isApplied(batch: BatchValues): boolean {
    return isWritten(this.#start, numberOf(batch))
  }

  /** Called in the transaction that writes the batches, all but those with the numbers `refused`. */
  note(batches: readonly BatchValues[], refused: readonly number[]): void {
    for (const batch of batches) {
      if (this.#left.delete(numberOf(batch))) this.#isNoted = false
      this.#highest = Math.max(this.#highest, numberOf(batch))
    }
    for (const number of refused) this.#leave(number)
    if (!this.#isNoted) this.#noteLeft(this.#left)
    this.#noteApplied(this.#highest)
  }

  committed(): void {
    this.#isNoted = true
    if (this.#left.size === 0) this.#applied = this.#highest
  }

  failed(batches: readonly BatchValues[]): void {
    for (const batch of batches) this.#leave(numberOf(batch))
  }

  /** The batch will not come again, and nothing takes its place any more. */
  forget(number: number): void {
    if (this.#left.delete(number)) this.#isNoted = false
  }

  #leave(number: number): void {
    this.#left.add(number)
    this.#isNoted = false
  }
}

/** Whether a database that is so far holds the batch with this number. */
export const isWritten = ({ applied, left }: Place, number: number): boolean => number <= applied && !left.has(number)
