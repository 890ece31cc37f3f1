import type { Reader } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import type { RunRow } from '../tables.ts'
import { readTrace } from './run.ts'
import { addUse, mergeUse, type Use, type UseTable } from './use.ts'

/** Spans that one table reads at most. */
const MAX_SPANS = 20_000
const CACHED_RUNS = 500

/** Use of several runs. */
export interface RecentUse {
  readonly uses: UseTable
  /** How many runs it is of, the newest first. */
  readonly runs: number
}

/** Sums the use of runs. A run is read again only after it has changed. */
export class RecentUses {
  readonly #storage: () => Reader
  readonly #known = new LRU<UseTable>(CACHED_RUNS)

  constructor(storage: () => Reader) {
    this.#storage = storage
  }

  /** The use of the newest of these runs, up to the first that would make it more than 20,000 spans. */
  async of(rows: readonly RunRow[]): Promise<RecentUse> {
    const uses = new Map<string, Use>()
    let [spans, runs] = [0, 0]
    for (const row of rows) {
      spans += row.span_count
      if (spans > MAX_SPANS) break
      mergeUse(uses, await this.#useOf(row))
      runs++
    }
    return { uses, runs }
  }

  async #useOf({ trace_id, revision }: RunRow): Promise<UseTable> {
    const key = `${trace_id} ${revision}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const uses = new Map<string, Use>()
    addUse(uses, (await readTrace(this.#storage(), trace_id)).spans)
    this.#known.set(key, uses)
    return uses
  }
}
