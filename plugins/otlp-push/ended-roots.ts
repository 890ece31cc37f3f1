import type { Gateway, Session, Tables } from 'guard-gateway/core'

/** Idle time after which a run without an explicit root counts as ended. */
const QUIET_MS = 60_000
const TURN_MS = 2_000
const MAX_RUNS = 10_000

interface RunActivity {
  /** Monotonic, milliseconds. */
  readonly at: number
  /** Session of the last request. It may have other requests in flight. */
  readonly session: Session | null
  /** A client wrote to the run, so it may have ended. */
  readonly mayHaveEnded: boolean
}

type RunRow = Tables['runs']

/** Reports root spans: an explicit root when its run ends, any other when its run is idle. */
export class EndedRoots {
  readonly #gateway: Gateway
  readonly #ended: (run: RunRow) => void
  /** Least recently active first. */
  readonly #runs = new Map<string, RunActivity>()
  #timer: NodeJS.Timeout | undefined

  /** `ended` may be called again for a root after new activity. */
  constructor(gateway: Gateway, ended: (run: RunRow) => void) {
    this.#gateway = gateway
    this.#ended = ended
  }

  called(trace_id: string, session: Session | null): void {
    this.#touch(trace_id, session, this.#runs.get(trace_id)?.mayHaveEnded ?? false)
  }

  changed(trace_id: string): void {
    this.#touch(trace_id, this.#runs.get(trace_id)?.session ?? null, true)
  }

  /** Checks all runs a last time, as if they were idle. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    const runs = [...this.#runs.keys()]
    this.#runs.clear()
    await Promise.all(runs.map((trace_id) => this.#check(trace_id, true)))
  }

  #touch(trace_id: string, session: Session | null, mayHaveEnded: boolean): void {
    this.#runs.delete(trace_id)
    this.#runs.set(trace_id, { at: this.#gateway.clock.tick(), session, mayHaveEnded })
    if (this.#runs.size > MAX_RUNS) this.#forgetOldest()
    this.#timer ??= setTimeout(() => void this.#checkAll(), TURN_MS).unref()
  }

  #forgetOldest(): void {
    const [oldest] = this.#runs.keys()
    if (oldest === undefined) return
    this.#runs.delete(oldest)
    void this.#check(oldest, true)
  }

  async #checkAll(): Promise<void> {
    const quiet_since = this.#gateway.clock.tick() - QUIET_MS
    for (const [trace_id, activity] of [...this.#runs]) {
      const isQuiet = activity.at <= quiet_since && (activity.session?.open ?? 0) === 0
      if (isQuiet) this.#runs.delete(trace_id)
      else if (activity.mayHaveEnded) this.#runs.set(trace_id, { ...activity, mayHaveEnded: false })
      if (isQuiet || activity.mayHaveEnded) await this.#check(trace_id, isQuiet)
    }
    this.#timer = this.#runs.size === 0 ? undefined : setTimeout(() => void this.#checkAll(), TURN_MS).unref()
  }

  /** Reports the root if its run has ended. Never rejects. */
  async #check(trace_id: string, isQuiet: boolean): Promise<void> {
    try {
      const run = await this.#gateway.storage.get('runs', trace_id)
      if (run !== undefined && run.end_ns !== null && (isQuiet || !run.root_auto)) this.#ended(run)
    } catch (error) {
      this.#gateway.fault(error, 'otlp-push')
    }
  }
}
