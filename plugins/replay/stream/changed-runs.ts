import type { Gateway } from 'guard-gateway/core'
import { writer } from 'guard-gateway/lib/ids'
import { LRU } from 'tiny-lru'
import type { RunRow } from '../tables.ts'
import { nowNs } from '../time.ts'

const PAGE_ROWS = 200
/** A row of another host may commit after rows that were changed later. */
const LATE_NS = 5_000_000_000n
/** Runs of other processes whose last state is remembered. */
const MAX_SEEN = 2_000

/** Runs that have changed since a time, and those that other processes have changed since the last look. */
export class ChangedRuns {
  readonly #gateway: Gateway
  #looked_ns = 0n
  /** Runs of other processes as they were last read. */
  readonly #seen = new LRU<string>(MAX_SEEN)

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** What changes from now on is found. */
  begin(): void {
    this.#looked_ns = nowNs(this.#gateway.clock)
  }

  /** The first runs that have changed since then. */
  async since(updated_ns: bigint): Promise<readonly RunRow[]> {
    const { rows } = await this.#gateway.storage.find('runs', {
      where: { updated_ns: { gte: updated_ns } },
      order: ['updated_ns', 'asc'],
      limit: PAGE_ROWS,
    })
    return rows
  }

  /** Gives the runs that other processes have changed since the last look, each state once. */
  async *elsewhere(): AsyncGenerator<RunRow> {
    const late_ns = this.#gateway.service('cluster').get() === undefined ? 0n : LATE_NS
    let from = this.#looked_ns - late_ns
    for (let isFull = true; isFull; from = this.#looked_ns) {
      const rows = await this.since(from)
      for (const row of rows) if (this.#isNew(row)) yield row
      const last = rows.at(-1)?.updated_ns ?? 0n
      this.#looked_ns = last >= this.#looked_ns ? last + 1n : this.#looked_ns
      isFull = rows.length === PAGE_ROWS
    }
  }

  #isNew({ trace_id, revision, updated_ns, writer: last }: RunRow): boolean {
    if (last === writer) return false
    const state = `${revision} ${updated_ns}`
    if (this.#seen.get(trace_id) === state) return false
    this.#seen.set(trace_id, state)
    return true
  }
}
