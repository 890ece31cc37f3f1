import type { Gateway } from 'guard-gateway/core'
import { WriteBehind } from '#lib/keyed-queue'
import { nowNs } from '../time.ts'
import type { OpenRun } from './open-run.ts'
import { loadRun, type OpenRuns } from './open-runs.ts'
import { callChange } from './run-change.ts'

const ATTEMPTS = 3

/**
 * Write-behind of sums: records of requests that change sums only are stored at once, the run's row later. Rows are written every two
 * seconds and before any read of runs. After a crash the next start rewrites them (`recovery.ts`).
 */
export class DeferredSums {
  readonly #gateway: Gateway
  readonly #runs: OpenRuns
  readonly #rows: WriteBehind<OpenRun>
  /** Pending runs that must be loaded again before the write. */
  readonly #needsReload = new Set<string>()
  /** Runs that are loaded for a write, which must not wait for itself. */
  readonly #reading = new Set<string>()

  constructor(gateway: Gateway, runs: OpenRuns) {
    this.#gateway = gateway
    this.#runs = runs
    this.#rows = new WriteBehind((run) =>
      this.#writeRow(run).catch((error: unknown) => gateway.fault(error, 'replay:late')),
    )
  }

  /** From now on no reader sees an outdated row. */
  start(): void {
    this.#gateway.storage.beforeReads('runs', (key) => this.write(key === undefined ? undefined : String(key)))
  }

  /** The run's row is outdated. */
  add(run: OpenRun): void {
    this.#rows.add(run.row.trace_id, run)
  }

  /** The run's row is outdated, and the run in memory counts records that could not be written. */
  addForReload(run: OpenRun): void {
    this.#needsReload.add(run.row.trace_id)
    this.#runs.drop(run.row.trace_id)
    this.add(run)
  }

  /** The run's row is written by another change. */
  delete(run: OpenRun): void {
    const { trace_id } = run.row
    if (this.#rows.get(trace_id) === run) this.#rows.delete(trace_id)
  }

  /** Writes the row of one run, or of all; undefined if none is outdated. Never rejects: failed writes are retried. */
  write(trace_id?: string): Promise<unknown> | undefined {
    const isOwn = trace_id !== undefined && this.#reading.has(trace_id)
    const written = this.#rows.flush(trace_id)
    return isOwn ? undefined : written
  }

  /** Writes all and stops the timer. */
  end(): Promise<void> {
    return this.#rows.end()
  }

  async #writeRow(outdated: OpenRun): Promise<void> {
    const { trace_id } = outdated.row
    // it may have been loaded again meanwhile
    const known = this.#runs.at(trace_id) ?? (this.#needsReload.has(trace_id) ? await this.#reload(trace_id) : outdated)
    this.#needsReload.delete(trace_id)
    if (known === undefined) return
    let run = known
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const change = callChange(run, false, nowNs(this.#gateway.clock))
      const count = run.deferredRecords.length
      // the storage writes records in order: those older than this write are stored with it
      if (await this.#gateway.storage.write([change]).catch(() => false))
        return void run.deferredRecords.splice(0, count)
      const found = await this.#reload(trace_id)
      if (found === undefined) return
      run = found
    }
    this.add(run)
  }

  /** Loads the run after another writer has changed its row, or after a failed write. */
  async #reload(trace_id: string): Promise<OpenRun | undefined> {
    this.#reading.add(trace_id)
    this.#runs.drop(trace_id)
    try {
      // not `runs.get`: a load in flight may wait for this write
      const run = await loadRun(this.#gateway.storage, trace_id)
      const current = this.#runs.at(trace_id)
      if (current === undefined && run !== undefined) this.#runs.add(run)
      return current ?? run
    } finally {
      this.#reading.delete(trace_id)
    }
  }
}
