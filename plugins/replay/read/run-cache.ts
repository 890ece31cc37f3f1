import type { Reader } from 'guard-gateway/core'
import type { MemoryBudget, MemoryPart } from '#lib/memory-budget'
import type { Trace } from '#lib/trace'
import { readTrace, runById } from './run.ts'

/** Lifetime of an unused entry. */
const CACHE_MS = 30_000
/** A record with its attributes, about. */
const RECORD_BYTES = 2_000

interface CacheEntry {
  readonly trace_id: string
  readonly revision: number
  readonly reading: Promise<Trace>
}

/** Caches the last read run while it is unchanged, because pages and scripts read long runs in parts. */
export class RunCache {
  readonly #storage: () => Reader
  #entry: CacheEntry | undefined
  #timer: NodeJS.Timeout | undefined

  readonly #memory: MemoryPart

  constructor(storage: () => Reader, budget: MemoryBudget) {
    this.#storage = storage
    this.#memory = budget.part({ name: 'read_runs', shrink: () => this.forget() })
  }

  /** The complete run. Throws RUN_NOT_FOUND. */
  async trace(trace_id: string): Promise<Trace> {
    const { revision } = await runById(this.#storage(), trace_id)
    if (this.#entry?.trace_id !== trace_id || this.#entry.revision !== revision)
      this.#entry = { trace_id, revision, reading: readTrace(this.#storage(), trace_id) }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.forget(), CACHE_MS).unref()
    const entry = this.#entry
    try {
      const trace = await entry.reading
      if (this.#entry === entry) this.#memory.hold(recordsIn(trace) * RECORD_BYTES)
      return trace
    } catch (error) {
      if (this.#entry === entry) this.forget()
      throw error
    }
  }

  forget(): void {
    clearTimeout(this.#timer)
    this.#entry = undefined
    this.#memory.hold(0)
  }
}

const recordsIn = ({ spans, events, artifacts }: Trace): number => 1 + spans.length + events.length + artifacts.length
