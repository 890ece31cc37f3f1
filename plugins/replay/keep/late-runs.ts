import type { Gateway } from 'guard-gateway/core'
import { nowNs } from '../time.ts'
import type { OpenRun } from './open-run.ts'
import { loadRun, type OpenRuns } from './open-runs.ts'
import { callChange } from './run-change.ts'

/** How long a stored summary may be behind the records of its run. */
const BEHIND_MS = 2_000
const ATTEMPTS = 3

/**
 * Runs to which plain model requests were added since their rows were written: the records are stored, the sums that follow from them are not.
 * Their rows are written from time to time, and before anybody reads runs; what a death leaves behind is made up at the next start.
 */
export class LateRuns {
  readonly #gateway: Gateway
  readonly #runs: OpenRuns
  readonly #waiting = new Set<OpenRun>()
  /** Of these: those that must be read again before. */
  readonly #unsure = new Set<string>()
  /** Writes under way, by trace id. */
  readonly #writing = new Map<string, Promise<void>>()
  /** Runs that are read for a write, which must not wait for itself. */
  readonly #reading = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, runs: OpenRuns) {
    this.#gateway = gateway
    this.#runs = runs
  }

  /** From now on no reader sees a row that is behind. */
  begin(): void {
    this.#gateway.storage.beforeReads('runs', (key) => this.write(key === undefined ? undefined : String(key)))
  }

  /** The run's row is behind. */
  add(run: OpenRun): void {
    this.#waiting.add(run)
    this.#timer ??= setTimeout(() => this.#turn(), BEHIND_MS).unref()
  }

  /** The run's row is behind, and what is known of the run counts records that could not be written. */
  addUnsure(run: OpenRun): void {
    this.#unsure.add(run.row.trace_id)
    this.#runs.drop(run.row.trace_id)
    this.add(run)
  }

  /** The run's row is written with something else. */
  delete(run: OpenRun): void {
    this.#waiting.delete(run)
  }

  /** Writes the row of one run, or of all; undefined where none is behind. Never rejects: what could not be written is tried again. */
  write(trace_id?: string): Promise<unknown> | undefined {
    if (this.#waiting.size === 0 && this.#writing.size === 0) return undefined
    const isOwn = trace_id !== undefined && this.#reading.has(trace_id)
    for (const run of this.#waiting) if (trace_id === undefined || run.row.trace_id === trace_id) this.#write(run)
    if (trace_id === undefined) return Promise.all(this.#writing.values())
    return isOwn ? undefined : this.#writing.get(trace_id)
  }

  /** Writes all and puts nothing off any more. */
  async end(): Promise<void> {
    await this.write()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #turn(): void {
    this.#timer = undefined
    void this.write()
  }

  #write(late: OpenRun): void {
    this.#waiting.delete(late)
    const { trace_id } = late.row
    const writing: Promise<void> = this.#written(late)
      .catch((error: unknown) => this.#gateway.fault(error, 'replay:late'))
      .finally(() => {
        if (this.#writing.get(trace_id) === writing) this.#writing.delete(trace_id)
      })
    this.#writing.set(trace_id, writing)
  }

  async #written(late: OpenRun): Promise<void> {
    const { trace_id } = late.row
    // it may have been read again meanwhile
    const known = this.#runs.at(trace_id) ?? (this.#unsure.has(trace_id) ? await this.#again(trace_id) : late)
    this.#unsure.delete(trace_id)
    if (known === undefined) return
    let run = known
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const change = callChange(run, false, nowNs(this.#gateway.clock))
      const count = run.lateRecords.length
      // records go before: those of requests that are older than this write are stored with it
      if (await this.#gateway.storage.write([change]).catch(() => false)) return void run.lateRecords.splice(0, count)
      const found = await this.#again(trace_id)
      if (found === undefined) return
      run = found
    }
    this.add(run)
  }

  /** The run as it is after somebody else has changed its row, or after it could not be written. */
  async #again(trace_id: string): Promise<OpenRun | undefined> {
    this.#reading.add(trace_id)
    this.#runs.drop(trace_id)
    try {
      // not by way of `get`: whoever has begun to read it may wait for this write
      const run = await loadRun(this.#gateway.storage, trace_id)
      const current = this.#runs.at(trace_id)
      if (current === undefined && run !== undefined) this.#runs.add(run)
      return current ?? run
    } finally {
      this.#reading.delete(trace_id)
    }
  }
}
