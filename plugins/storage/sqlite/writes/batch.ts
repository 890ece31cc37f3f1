import { GuardError, type WriteOptions } from 'guard-gateway/core'
import type { BatchValues, Failure } from '../protocol.ts'

/** The caller of a batch. */
export interface Waiter {
  readonly resolve: (written: boolean) => void
  readonly reject: (error: Error) => void
  /** Keep the batch while the database cannot be written, instead of refusing it. */
  readonly hold: boolean
  /** Present: the caller wants an answer as soon as the batch is in the redo log. This is called if a condition fails later. */
  readonly onRefused?: WriteOptions['onRefused'] | undefined
}

/** A batch in the redo log: the JSON text of its line, and its index there. */
export interface LoggedBatch {
  readonly line: string
  readonly index: number
}

const batchIn = ({ line, index }: LoggedBatch): BatchValues => (JSON.parse(line) as BatchValues[])[index] ?? []

/** A batch that is not committed yet. */
export class Batch {
  readonly id: number
  /** Size of its values, about. */
  readonly bytes: number
  readonly #waiter: Waiter
  readonly #mustBeSynced: boolean
  /** Its values, or the log line that holds them: one text takes less memory until the commit than all of its values. */
  #source: BatchValues | LoggedBatch
  #isAnswered = false

  constructor(values: BatchValues, bytes: number, waiter: Waiter) {
    this.id = Number(values[0])
    this.bytes = bytes
    this.#waiter = waiter
    this.#mustBeSynced = values[1] === 1
    this.#source = values
  }

  get values(): BatchValues {
    return Array.isArray(this.#source) ? this.#source : batchIn(this.#source)
  }

  /** The caller has its answer. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  /** Whether it may be answered before its commit. A batch that must survive a power cut may not. */
  get mayAnswerEarly(): boolean {
    return this.#waiter.onRefused !== undefined && !this.#mustBeSynced
  }

  /** Whether it is kept while the database cannot be written. */
  get isHeld(): boolean {
    return this.#waiter.hold || this.#isAnswered
  }

  /** Answers the caller: the batch is safe in this line of the log, whether or not its conditions hold. */
  answer(logged: LoggedBatch): void {
    this.#source = logged
    this.#isAnswered = true
    this.#waiter.resolve(true)
  }

  written(): void {
    this.#waiter.resolve(true)
  }

  /** A condition failed. Resolves when a caller that was answered early has handled that. `fault` gets the error if its handler throws. */
  async refused(fault: (error: unknown) => void): Promise<void> {
    if (!this.#isAnswered) return this.#waiter.resolve(false)
    try {
      await this.#waiter.onRefused?.()
    } catch (error) {
      fault(error)
    }
  }

  /** The batch will not be written. Returns the error if no caller waits for it. */
  fail(failure: Omit<Failure, 'id'>): Error | undefined {
    const error = refusal(failure)
    if (this.#isAnswered) return error
    this.#waiter.reject(error)
    return undefined
  }
}

export const overloaded = (): GuardError =>
  new GuardError('OVERLOADED', 'The trace store has as many records waiting as it takes. Try again in a moment.')

const refusal = ({ reason, message }: Omit<Failure, 'id'>): Error => {
  if (reason === 'full') return new GuardError('STORAGE_FULL')
  if (reason === 'failing') return new GuardError('STORAGE_UNAVAILABLE', `The database cannot be written: ${message}.`)
  return new TypeError(`The batch cannot be written: ${message}`)
}
