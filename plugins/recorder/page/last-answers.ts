import type { Outcome, Reader } from 'guard-gateway/core'
import { everyProject } from 'guard-gateway/lib/principal'
import { type CallRecord, isPlayground } from 'guard-gateway/lib/trace'
import { failures } from '../figures/measures.ts'

/** Calls that a look reads, the newest first: of those recorded since the look before, and at the first look. */
const MAX_READ = 100

/** Outcome and time of an upstream's newest answer, in milliseconds since 1970. */
export interface LastAnswer {
  readonly outcome: Outcome
  readonly at: number
}

/** The newest answer of each upstream, by its name, among the calls that were the newest at each look. */
export class LastAnswers {
  readonly #answers = new Map<string, LastAnswer>()
  #newest: string | undefined

  /** Reads what was recorded since the last look, at most the newest hundred calls. */
  async look(storage: Reader): Promise<void> {
    const { rows } = await everyProject(() => storage.find('calls', { limit: MAX_READ }))
    const known = rows.findIndex(({ id }) => id === this.#newest)
    for (const call of known === -1 ? rows : rows.slice(0, known)) this.#add(call)
    this.#newest = rows[0]?.id ?? this.#newest
  }

  of(upstream: string): LastAnswer | undefined {
    return this.#answers.get(upstream)
  }

  #add(call: CallRecord): void {
    const { upstream, outcome, ended_at, attempts } = call
    // clients that left and refused requests say nothing of an upstream
    const isAnswer = attempts > 0 && (outcome === 'ok' || failures.has(outcome))
    if (upstream === null || !isAnswer || isPlayground(call)) return
    if (ended_at >= (this.#answers.get(upstream)?.at ?? 0)) this.#answers.set(upstream, { outcome, at: ended_at })
  }
}
