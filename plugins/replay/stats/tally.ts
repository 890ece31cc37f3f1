import { percentile } from '../read/use.ts'

/** One run or call, as it is added up. Cost is in millionths of the billing currency. */
export interface Counted {
  readonly failed: boolean
  /** Milliseconds; null while it runs and where nobody knows. */
  readonly took_ms: number | null
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly cost_micro: number
}

/** What runs or calls came to. Durations in milliseconds, of those that have one. */
export interface StatsSums {
  readonly count: number
  readonly errors: number
  /** All input, cached included. */
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly cost_micro: number
  readonly duration_ms: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly p99_ms: number | null
  readonly max_ms: number | null
}

/** Sums, and durations in no order. */
export class Tally {
  #count = 0
  #errors = 0
  #input = 0
  #cached = 0
  #output = 0
  #cost = 0
  readonly #took: number[] = []

  get count(): number {
    return this.#count
  }

  add(one: Counted): void {
    this.#count++
    if (one.failed) this.#errors++
    this.#input += one.input_tokens
    this.#cached += one.cached_input_tokens
    this.#output += one.output_tokens
    this.#cost += one.cost_micro
    if (one.took_ms !== null) this.#took.push(one.took_ms)
  }

  addAll(other: Tally): void {
    this.#count += other.#count
    this.#errors += other.#errors
    this.#input += other.#input
    this.#cached += other.#cached
    this.#output += other.#output
    this.#cost += other.#cost
    for (const took of other.#took) this.#took.push(took)
  }

  sums(): StatsSums {
    const sorted = Float64Array.from(this.#took).sort()
    const at = (share: number): number | null => rounded(percentile(sorted, share))
    return {
      count: this.#count,
      errors: this.#errors,
      input_tokens: safe(this.#input),
      cached_input_tokens: safe(this.#cached),
      output_tokens: safe(this.#output),
      total_tokens: safe(this.#input + this.#output),
      cost_micro: safe(this.#cost),
      duration_ms: rounded(sorted.reduce((sum, took) => sum + took, 0)) ?? 0,
      p50_ms: at(0.5),
      p95_ms: at(0.95),
      p99_ms: at(0.99),
      max_ms: rounded(sorted.at(-1)),
    }
  }
}

/** Milliseconds to the microsecond. */
const rounded = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms * 1_000) / 1_000)

/** Programs may claim more than a double holds exactly. */
const safe = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER)
