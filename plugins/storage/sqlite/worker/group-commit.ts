import type { Database } from 'better-sqlite3'
import type { BatchValues, Failure, OpenOptions } from '../protocol.ts'
import type { Ownership } from '../redo-log/ownership.ts'
import type { Progress } from '../redo-log/progress.ts'
import { isBusy, isUniqueViolation, messageOf, reasonOf } from '../sqlite-errors.ts'
import { type PreparedChange, runChange } from './prepared-change.ts'

/** The result of a group. `done` is flat: id, then 1 for written or 0 for a failed condition. */
export interface Outcome {
  readonly done: number[]
  readonly failed: Failure[]
}

const idOf = (batch: BatchValues): number => Number(batch[0])

const conditionFailed = new Error('a condition of a batch does not hold')

const refusedOf = ({ done }: Outcome): number[] => done.filter((_, at) => at % 2 === 0 && done[at + 1] === 0)

/** Whether the error is of a batch and not of the database. */
const isBatchError = (error: Error): boolean =>
  error === conditionFailed || isUniqueViolation(error) || reasonOf(error) === 'fault'

/**
 * Group commit: writes several batches in one transaction. A savepoint for each batch would copy every page that the batch touches,
 * which costs more than the batch. So savepoints are used only when a group is repeated because one of its batches failed.
 */
export class GroupCommit {
  readonly #db: Database
  readonly #options: OpenOptions
  readonly #changeOf: (shape: number) => PreparedChange
  readonly #progress: Progress | undefined
  readonly #ownership: Ownership | undefined
  readonly #run: Record<'begin' | 'commit' | 'rollback' | 'save' | 'release' | 'back', () => void>
  #isImpatient = false

  /** `progress` records every batch; undefined where the position is not recorded. `ownership` is confirmed in every transaction. */
  constructor(
    db: Database,
    options: OpenOptions,
    changeOf: (shape: number) => PreparedChange,
    progress?: Progress,
    ownership?: Ownership,
  ) {
    this.#db = db
    this.#options = options
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

  /** Commits the batches. If the disk is too full for the group, each batch is tried alone, so that a large one stops no other. */
  commit(batches: readonly BatchValues[]): Outcome {
    const sync = batches.some((batch) => batch[1] === 1)
    let outcome = this.transact(sync, () => this.#writeAll(batches))
    if (outcome instanceof Error && isBatchError(outcome))
      outcome = this.transact(sync, () => this.#writeWithSavepoints(batches))
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

  /** Writes none of the batches. They fail as if the disk were full. */
  refuse(batches: readonly BatchValues[], message: string): Outcome {
    this.#progress?.failed(batches)
    return { done: [], failed: batches.map((batch) => ({ id: idOf(batch), reason: 'full', message })) }
  }

  /** Runs `work` in its own transaction. Returns the error, with nothing written, if `work` or the commit throws. */
  transact<T>(sync: boolean, work: () => T): T | Error {
    // a commit under synchronous FULL also syncs all earlier commits
    const full = sync && this.#options.synchronous !== 'full'
    if (full) this.#db.exec('pragma synchronous = full')
    try {
      this.#run.begin()
      this.#ownership?.confirm()
      const result = work()
      this.#run.commit()
      this.#setPatience(true)
      return result
    } catch (error) {
      if (this.#db.inTransaction) this.#run.rollback()
      if (isBusy(error)) this.#setPatience(false)
      return error instanceof Error ? error : new Error(String(error))
    } finally {
      if (full) this.#db.exec('pragma synchronous = normal')
    }
  }

  #writeAll(batches: readonly BatchValues[]): Outcome {
    const done: number[] = []
    const sums = new GroupSums()
    for (const batch of batches) {
      if (!this.#isApplied(batch) && !this.#runChanges(batch, sums)) throw conditionFailed
      done.push(idOf(batch), 1)
    }
    sums.run()
    this.#progress?.record(batches, [])
    return { done, failed: [] }
  }

  #writeWithSavepoints(batches: readonly BatchValues[]): Outcome {
    const outcome: Outcome = { done: [], failed: [] }
    for (const batch of batches) {
      if (this.#isApplied(batch)) outcome.done.push(idOf(batch), 1)
      else this.#writeOne(batch, outcome)
    }
    this.#progress?.record(batches, refusedOf(outcome))
    return outcome
  }

  #isApplied(batch: BatchValues): boolean {
    return this.#progress?.isApplied(batch) === true
  }

  #writeOne(batch: BatchValues, { done, failed }: Outcome): void {
    this.#run.save()
    try {
      const written = this.#runChanges(batch)
      if (!written) this.#run.back()
      done.push(idOf(batch), written ? 1 : 0)
    } catch (error) {
      const taken = isUniqueViolation(error)
      if (!this.#db.inTransaction || !(taken || reasonOf(error) === 'fault')) throw error
      this.#run.back()
      if (taken) done.push(idOf(batch), 0)
      else failed.push({ id: idOf(batch), reason: 'fault', message: messageOf(error) })
    }
    this.#run.release()
  }

  /** With `sums`, what is added to rows is only noted there, for the end of the group. */
  #runChanges(batch: BatchValues, sums?: GroupSums): boolean {
    let at = 2
    while (at < batch.length) {
      const shape = Number(batch[at])
      const change = this.#changeOf(shape)
      if (change.isSum && sums !== undefined) sums.add(shape, change, batch, at + 1)
      else {
        if (sums?.has(change.table)) sums.run()
        if (!runChange(change, batch, at + 1)) return false
      }
      at += change.arity + 1
    }
    return true
  }

  /** After a timeout on another program's lock the next tries do not wait, so that queries go on. */
  #setPatience(isPatient: boolean): void {
    if (isPatient !== this.#isImpatient) return
    this.#isImpatient = !isPatient
    this.#db.exec(`pragma busy_timeout = ${isPatient ? this.#options.busy_ms : 0}`)
  }
}

/** One sum: its values are the key of its row, then what is added. */
interface Sum {
  readonly change: PreparedChange
  readonly values: number[]
}

/**
 * The sums of one group commit. The batches of a group mostly add to the same few rows, such as those of the present hour,
 * so their sums are added up here first and each row is written once.
 */
class GroupSums {
  readonly #sums = new Map<string, Sum>()
  readonly #tables = new Set<string>()

  /** Adds one change, whose values start at `at`. `shape` is its number. */
  add(shape: number, change: PreparedChange, batch: BatchValues, at: number): void {
    const end = at + change.arity
    const name = `${shape} ${JSON.stringify(batch.slice(at, at + change.keySize))}`
    const sum = this.#sums.get(name)
    if (sum === undefined) {
      this.#sums.set(name, { change, values: batch.slice(at, end) as number[] })
      this.#tables.add(change.table)
    } else if (!addTo(sum.values, batch, at, change)) {
      runChange(sum.change, sum.values, 0)
      this.#sums.set(name, { change, values: batch.slice(at, end) as number[] })
    }
  }

  /** Whether a row of this table is among the sums. */
  has(table: string): boolean {
    return this.#tables.has(table)
  }

  /** Writes all sums and forgets them. */
  run(): void {
    for (const { change, values } of this.#sums.values()) runChange(change, values, 0)
    this.#sums.clear()
    this.#tables.clear()
  }
}

/**
 * Adds the sums of one more change. Returns false, and changes nothing, if written in turn they could have another result: a row's sums
 * end at the safe integers, so what is added on one side of an end and what is taken away again do not cancel.
 */
const addTo = (values: number[], batch: BatchValues, at: number, { keySize, arity }: PreparedChange): boolean => {
  for (let index = keySize; index < arity; index++)
    if (!isSameWay(values[index] ?? 0, Number(batch[at + index]))) return false
  for (let index = keySize; index < arity; index++) values[index] = (values[index] ?? 0) + Number(batch[at + index])
  return true
}

const isSameWay = (one: number, other: number): boolean =>
  (one >= 0 ? other >= 0 : other <= 0) && Number.isSafeInteger(one + other)
