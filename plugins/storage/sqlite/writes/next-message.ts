import type { AheadLog } from '../ahead/log.ts'
import type { ToWorker } from '../protocol.ts'
import type { Batch } from './batch.ts'

type Write = Extract<ToWorker, { readonly kind: 'write' }>

/** Batches that are gathered for the next message to the worker. */
export class NextMessage {
  readonly #log: AheadLog
  #batches: Batch[] = []
  #parts: Write['parts'][number][] = []

  constructor(log: AheadLog) {
    this.#log = log
  }

  get size(): number {
    return this.#batches.length
  }

  /** Whether somebody waits for its commit. */
  get isAwaited(): boolean {
    return this.#batches.some(({ isAnswered }) => !isAnswered)
  }

  /** Whether it holds what somebody may already count on. */
  get hasAnswered(): boolean {
    return this.#batches.some(({ isAnswered }) => isAnswered)
  }

  /** Takes batches in. Those that may be answered ahead are, if they come into the log; `committed` as there, undefined: they wait. */
  add(batches: readonly Batch[], committed: number | undefined): void {
    const ahead = committed === undefined ? [] : batches.filter(({ mayBeAhead }) => mayBeAhead)
    const line = ahead.length === 0 ? undefined : this.#logged(ahead, committed ?? 0)
    // the text is there already, and goes to another thread at once
    const isWhole = line !== undefined && ahead.length === batches.length
    this.#parts.push(isWhole ? line : batches.map(({ values }) => values))
    this.#batches = this.#batches.concat(batches)
  }

  /** Empties it. */
  take(): { readonly batches: readonly Batch[]; readonly parts: Write['parts'] } {
    const taken = { batches: this.#batches, parts: this.#parts }
    this.#batches = []
    this.#parts = []
    return taken
  }

  #logged(batches: readonly Batch[], committed: number): string | undefined {
    const line = JSON.stringify(batches.map(({ values }) => values))
    if (!this.#log.append(line, batches.at(-1)?.id ?? 0, committed)) return undefined
    for (const [place, batch] of batches.entries()) batch.answer({ line, place })
    return line
  }
}
