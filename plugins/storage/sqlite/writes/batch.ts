import { GuardError, type WriteOptions } from 'guard-gateway/core'
import type { BatchValues, Failure } from '../protocol.ts'

/** Who waits for a batch, and how. */
export interface Waiter {
  readonly resolve: (written: boolean) => void
  readonly reject: (error: Error) => void
  /** Wait while the database cannot be written, instead of being refused. */
  readonly hold: boolean
  /** Present: an answer is wanted as soon as the batch is safe, and this is called should a condition fail later. */
  readonly onRefused?: WriteOptions['onRefused'] | undefined
}

/** A line of batches, JSON, and which of them is meant. */
export interface LoggedBatch {
  readonly line: string
  readonly place: number
}

const batchIn = ({ line, place }: LoggedBatch): BatchValues => (JSON.parse(line) as BatchValues[])[place] ?? []

/** A batch on its way to the disk. */
export class Batch {
  readonly id: number
  /** Of its values, about. */
  readonly bytes: number
  readonly #waiter: Waiter
  readonly #mustBeSynced: boolean
  /** Its values, or the line of the log that holds them: until its commit one text is kept, and not all that it was made of. */
  #held: BatchValues | LoggedBatch
  #isAnswered = false

  constructor(values: BatchValues, bytes: number, waiter: Waiter) {
    this.id = Number(values[0])
    this.bytes = bytes
    this.#waiter = waiter
    this.#mustBeSynced = values[1] === 1
    this.#held = values
  }

  get values(): BatchValues {
    return Array.isArray(this.#held) ? this.#held : batchIn(this.#held)
  }

  /** Nobody waits for it any more. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  /** It may be answered before its commit; not so what must survive a power cut. */
  get mayBeAhead(): boolean {
    return this.#waiter.onRefused !== undefined && !this.#mustBeSynced
  }

  /** It stays until it can be written. */
  get isHeld(): boolean {
    return this.#waiter.hold || this.#isAnswered
  }

  /** It is safe, in this line of the log, whatever becomes of its conditions. */
  answer(logged: LoggedBatch): void {
    this.#held = logged
    this.#isAnswered = true
    this.#waiter.resolve(true)
  }

  written(): void {
    this.#waiter.resolve(true)
  }

  /** A condition failed. Resolves when whoever was answered ahead has done something about it, or `fault` is told that they cannot. */
  async refused(fault: (error: unknown) => void): Promise<void> {
    if (!this.#isAnswered) return this.#waiter.resolve(false)
    try {
      await this.#waiter.onRefused?.()
    } catch (error) {
      fault(error)
    }
  }

  /** It will not be written. An error that nobody waits for is returned. */
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
