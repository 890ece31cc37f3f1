import type { Reply } from '../repeated-calls.ts'

/** Tokens and cost of one model span. */
export interface Use {
  readonly input: bigint
  /** Of the input, what came from a cache. */
  readonly cached: bigint
  readonly output: bigint
  readonly cost: bigint
}

/** The fields of a span that a run's summary needs. */
export interface SummedSpan {
  readonly id: string
  readonly parent: string | null
  readonly status: string
  readonly start_ns: bigint
  readonly end_ns: bigint | null
  /** Written by the gateway or the MCP proxy; clients cannot change it. */
  readonly guarded: boolean
  /** Null: no model span, or one without figures. */
  readonly use: Use | null
  /** Of a model span that an instrumentation has sent, and that has figures. */
  readonly reply?: Reply | undefined
}

/** Flags of a span, a bit each. */
export const SpanFlags = {
  /** Its use counts: no model span of known use is below it. */
  counted: 1,
  /** A span of known use is below it. */
  ancestor: 2,
} as const
const ENDED = 4
const GUARDED = 8
const USED = 16

/** Integers of one span: start, end, input, output, cost, input from a cache. */
const VALUES = 6
/** Estimated size of a span without its integers: its id as text and in the index, its parent, status and flags. */
const SPAN_BYTES = 165
const INITIAL_SPANS = 16

/**
 * Spans of one run in columns. An object per span with five bigints takes half as much memory again, and the garbage collector has to
 * visit each. Integers are limited to 64 bits.
 */
export class SpanTable {
  readonly #indexes = new Map<string, number>()
  readonly #ids: string[] = []
  readonly #parents: (string | null)[] = []
  readonly #statuses: string[] = []
  #values = new BigInt64Array(INITIAL_SPANS * VALUES)
  #flags = new Uint8Array(INITIAL_SPANS)

  get size(): number {
    return this.#ids.length
  }

  /** Estimated size in memory. */
  get bytes(): number {
    return this.#values.byteLength + this.#flags.byteLength + this.#ids.length * SPAN_BYTES
  }

  /** The index of a span; undefined if it has not arrived. */
  indexOf(id: string): number | undefined {
    return this.#indexes.get(id)
  }

  has(id: string): boolean {
    return this.#indexes.has(id)
  }

  /** Appends a span, or replaces the one with its id. Returns its index; its flags are cleared. */
  set(span: SummedSpan): number {
    const { id, parent, status, start_ns, end_ns, guarded, use } = span
    let index = this.#indexes.get(id)
    if (index === undefined) {
      index = this.#ids.push(id) - 1
      this.#indexes.set(id, index)
      if (index === this.#flags.length) this.#grow()
    }
    this.#parents[index] = parent
    this.#statuses[index] = status
    const { input = 0n, output = 0n, cost = 0n, cached = 0n } = use ?? {}
    this.#values.set([start_ns, end_ns ?? 0n, input, output, cost, cached], index * VALUES)
    this.#flags[index] = (end_ns === null ? 0 : ENDED) | (guarded ? GUARDED : 0) | (use === null ? 0 : USED)
    return index
  }

  at(index: number): SummedSpan {
    const from = index * VALUES
    return {
      id: this.#ids[index] ?? '',
      parent: this.parentAt(index),
      status: this.#statuses[index] ?? '',
      start_ns: this.#values[from] ?? 0n,
      end_ns: this.#has(index, ENDED) ? (this.#values[from + 1] ?? 0n) : null,
      guarded: this.#has(index, GUARDED),
      use: this.useAt(index),
    }
  }

  parentAt(index: number): string | null {
    return this.#parents[index] ?? null
  }

  useAt(index: number): Use | null {
    if (!this.#has(index, USED)) return null
    const from = index * VALUES + 2
    return {
      input: this.#values[from] ?? 0n,
      output: this.#values[from + 1] ?? 0n,
      cost: this.#values[from + 2] ?? 0n,
      cached: this.#values[from + 3] ?? 0n,
    }
  }

  hasFlag(index: number, flag: number): boolean {
    return this.#has(index, flag)
  }

  setFlag(index: number, flag: number): void {
    this.#flags[index] = (this.#flags[index] ?? 0) | flag
  }

  clearFlag(index: number, flag: number): void {
    this.#flags[index] = (this.#flags[index] ?? 0) & ~flag
  }

  #has(index: number, flag: number): boolean {
    return ((this.#flags[index] ?? 0) & flag) !== 0
  }

  #grow(): void {
    const length = Math.ceil(this.#flags.length * 1.5)
    const values = new BigInt64Array(length * VALUES)
    values.set(this.#values)
    const flags = new Uint8Array(length)
    flags.set(this.#flags)
    this.#values = values
    this.#flags = flags
  }
}
