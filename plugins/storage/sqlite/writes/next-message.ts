import type { ToWorker } from '../protocol.ts'
import type { RedoLog } from '../redo-log/redo-log.ts'
import type { Batch } from './batch.ts'

type Write = Extract<ToWorker, { readonly kind: 'write' }>

/** The batches of the next message to the worker. */
export class NextMessage {
  readonly #log: RedoLog
  #batches: Batch[] = []
  #parts: Write['parts'][number][] = []

  constructor(log: RedoLog) {
    this.#log = log
  }

  get size(): number {
    return this.#batches.length
  }

  /** Whether a caller waits for its commit. */
  get isAwaited(): boolean {
    return this.#batches.some(({ isAnswered }) => !isAnswered)
  }

  /** Whether it holds a batch that was answered before its commit. */
  get hasAnswered(): boolean {
    return this.#batches.some(({ isAnswered }) => isAnswered)
  }

  /** Adds batches. Those that may be answered early are, once they are in the redo log. `committed`: see `RedoLog.append`; undefined: all batches wait for their commit. */
  add(batches: readonly Batch[], committed: number | undefined): void {
    const early = committed === undefined ? [] : batches.filter(({ mayAnswerEarly }) => mayAnswerEarly)
    const line = early.length === 0 ? undefined : this.#appendToLog(early, committed ?? 0)
    // the JSON text exists already, and a text is posted faster than lists
    const isWhole = line !== undefined && early.length === batches.length
    this.#parts.push(isWhole ? line : batches.map(({ values }) => values))
    this.#batches = this.#batches.concat(batches)
  }

  /** Takes everything out. */
  take(): { readonly batches: readonly Batch[]; readonly parts: Write['parts'] } {
    const taken = { batches: this.#batches, parts: this.#parts }
    this.#batches = []
    this.#parts = []
    return taken
  }

  #appendToLog(batches: readonly Batch[], committed: number): string | undefined {
    const line = JSON.stringify(batches.map(({ values }) => values))
    if (!this.#log.append(line, batches.at(-1)?.id ?? 0, committed)) return undefined
    for (const [index, batch] of batches.entries()) batch.answer({ line, index })
    return line
  }
}
