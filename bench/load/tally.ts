import type { ParsedReply } from './reply-reader.ts'

const MAX_ERRORS = 5

/** The results of a run. */
export interface Counted {
  readonly requests: number
  /** Replies that were incomplete, not successful or of another length. */
  readonly failed: number
  /** The first reasons. */
  readonly errors: readonly string[]
  /** Requests by x-guard-decision. Empty for a target without decisions. */
  readonly decisions: Readonly<Record<string, number>>
  /** Milliseconds from the due time of a request to the last byte of its reply. */
  readonly p50_ms: number
  readonly p99_ms: number
}

/** Counts replies and checks that they are complete. */
export class Tally {
  readonly #bytes: number
  readonly #latencies: number[] = []
  readonly #errors: string[] = []
  readonly #decisions: Record<string, number> = {}
  #failed = 0

  /** `bytes`: expected length of every body. */
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  replied({ status, bytes, decision }: ParsedReply, ms: number): void {
    this.#latencies.push(ms)
    if (decision !== '') this.#decisions[decision] = (this.#decisions[decision] ?? 0) + 1
    if (status !== 200 || bytes !== this.#bytes)
      this.failed(`status ${status} with ${bytes} bytes, 200 with ${this.#bytes} expected`)
  }

  failed(why: string): void {
    this.#failed++
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(why)
  }

  counted(requests: number): Counted {
    const sorted = Float64Array.from(this.#latencies).sort()
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return {
      requests,
      failed: this.#failed,
      errors: this.#errors,
      decisions: this.#decisions,
      p50_ms: at(0.5),
      p99_ms: at(0.99),
    }
  }
}
