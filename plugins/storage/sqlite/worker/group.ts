import type { Database } from 'better-sqlite3'
import type { Ownership } from '../ahead/ownership.ts'
import type { Progress } from '../ahead/progress.ts'
import { isBusy, isTaken, messageOf, reasonOf } from '../failure.ts'
import type { BatchValues, Failure, Start } from '../protocol.ts'
import { type ReadyChange, runChange } from './changes.ts'

/** What became of a group: `done` is flat, id and 1 for written or 0 for a failed condition. */
export interface Outcome {
  readonly done: number[]
  readonly failed: Failure[]
}

const idOf = (batch: BatchValues): number => Number(batch[0])

const conditionFailed = new Error('a condition of a batch does not hold')

const refusedOf = ({ done }: Outcome): number[] => done.filter((_, at) => at % 2 === 0 && done[at + 1] === 0)

/** Whether a batch is at fault, not the database. */
const isOwn = (error: Error): boolean => error === conditionFailed || isTaken(error) || reasonOf(error) === 'fault'

/**
 * Commits groups of batches, each in one transaction. A savepoint a batch copies every page that it touches,
 * which costs more than the batch: only a group in which one failed is run again with them.
 */
export class Group {
  readonly #db: Database
  readonly #start: Start
  readonly #changeOf: (shape: number) => ReadyChange
  readonly #progress: Progress | undefined
  readonly #ownership: Ownership | undefined
  readonly #run: Record<'begin' | 'commit' | 'rollback' | 'save' | 'release' | 'back', () => void>
  #impatient = false

  /** `progress` is told of every batch; undefined: nobody keeps count. `ownership` is confirmed in every transaction. */
  constructor(
    db: Database,
    start: Start,
    changeOf: (shape: number) => ReadyChange,
    progress?: Progress,
    ownership?: Ownership,
  ) {
    this.#db = db
    this.#start = start
    this.#changeOf = changeOf
    this.#progress = progress
    this.#ownership = ownership
    const statement = (text: string) => {
      const prepared = db.prepare(text)
      return () => void prepared.run()
    }
    this.#run = {
      begin: statement('begin immediate'),
      commit: statement('commit'),
      rollback: statement('rollback'),
      save: statement('savepoint batch'),
      release: statement('release batch'),
      back: statement('rollback to batch'),
    }
  }

  /** Commits the batches; where the group as a whole cannot be written, each is tried alone, so that one that is too big stops no other. */
  commit(batches: readonly BatchValues[]): Outcome {
    const sync = batches.some((batch) => batch[1] === 1)
    let outcome = this.transact(sync, () => this.#plain(batches))
    if (outcome instanceof Error && isOwn(outcome)) outcome = this.transact(sync, () => this.#saved(batches))
    if (!(outcome instanceof Error)) {
      this.#progress?.committed()
      return outcome
    }
    const reason = reasonOf(outcome)
    if (reason !== 'full' || batches.length === 1) {
      this.#progress?.failed(batches)
      return { done: [], failed: batches.map((batch) => ({ id: idOf(batch), reason, message: messageOf(outcome) })) }
    }
    const each = batches.map((batch) => this.commit([batch]))
    return { done: each.flatMap(({ done }) => done), failed: each.flatMap(({ failed }) => failed) }
  }

  /** Writes none of the batches, as if the disk were full. */
  refuse(batches: readonly BatchValues[], message: string): Outcome {
    this.#progress?.failed(batches)
    return { done: [], failed: batches.map((batch) => ({ id: idOf(batch), reason: 'full', message })) }
  }

  /** Runs `work` in a transaction of its own; the error, with nothing written, if it or the commit throws. */
  transact<T>(sync: boolean, work: () => T): T | Error {
    // one commit under FULL also makes all commits before it safe
    const full = sync && this.#start.synchronous !== 'full'
    if (full) this.#db.exec('pragma synchronous = full')
    try {
      this.#run.begin()
      this.#ownership?.confirm()
      const result = work()
      this.#run.commit()
      this.#wait(true)
      return result
    } catch (error) {
      if (this.#db.inTransaction) this.#run.rollback()
      if (isBusy(error)) this.#wait(false)
      return error instanceof Error ? error : new Error(String(error))
    } finally {
      if (full) this.#db.exec('pragma synchronous = normal')
    }
  }

  #plain(batches: readonly BatchValues[]): Outcome {
    const done: number[] = []
    for (const batch of batches) {
      if (!this.#isApplied(batch) && !this.#changes(batch)) throw conditionFailed
      done.push(idOf(batch), 1)
    }
    this.#progress?.note(batches, [])
    return { done, failed: [] }
  }

  #saved(batches: readonly BatchValues[]): Outcome {
    const outcome: Outcome = { done: [], failed: [] }
    for (const batch of batches) {
      if (this.#isApplied(batch)) outcome.done.push(idOf(batch), 1)
      else this.#one(batch, outcome)
    }
    this.#progress?.note(batches, refusedOf(outcome))
    return outcome
  }

  #isApplied(batch: BatchValues): boolean {
    return this.#progress?.isApplied(batch) === true
  }

  #one(batch: BatchValues, { done, failed }: Outcome): void {
    this.#run.save()
    try {
      const written = this.#changes(batch)
      if (!written) this.#run.back()
      done.push(idOf(batch), written ? 1 : 0)
    } catch (error) {
      const taken = isTaken(error)
      if (!this.#db.inTransaction || !(taken || reasonOf(error) === 'fault')) throw error
      this.#run.back()
      if (taken) done.push(idOf(batch), 0)
      else failed.push({ id: idOf(batch), reason: 'fault', message: messageOf(error) })
    }
    this.#run.release()
  }

  #changes(batch: BatchValues): boolean {
    let at = 2
    while (at < batch.length) {
      const change = this.#changeOf(Number(batch[at]))
      if (!runChange(change, batch, at + 1)) return false
      at += change.arity + 1
    }
    return true
  }

  /** After a wait for another program's lock that was in vain, the next tries do not wait, so that reads go on. */
  #wait(patient: boolean): void {
    if (patient !== this.#impatient) return
    this.#impatient = !patient
    this.#db.exec(`pragma busy_timeout = ${patient ? this.#start.busy_ms : 0}`)
  }
}
