import type { Gateway, Session, Tables } from 'guard-gateway/core'

/** A run without an explicit root counts as ended after so much time without activity. */
const QUIET_MS = 60_000
const TURN_MS = 2_000
const MAX_RUNS = 10_000

/** The last activity of a run. */
interface RunActivity {
  /** Monotonic time, milliseconds. */
  readonly at: number
  /** The session of the last request, which may have others in flight. */
  readonly session: Session | null
  /** A client has written to the run: it may have ended. */
  readonly mayHaveEnded: boolean
}

type RunRow = Tables['runs']

/** Reports root spans: an explicit one when its run has ended, any other when its run is idle. */
export class EndedRoots {
  readonly #gateway: Gateway
  readonly #ended: (run: RunRow) => void
  /** Least recently active first. */
  readonly #runs = new Map<string, RunActivity>()
  #timer: NodeJS.Timeout | undefined

  /** `ended` may be called for a root again after new activity of its run. */
  constructor(gateway: Gateway, ended: (run: RunRow) => void) {
    this.#gateway = gateway
    this.#ended = ended
  }

  /** A request or a tool call has ended. */
  called(trace_id: string, session: Session | null): void {
    this.#touch(trace_id, session, this.#runs.get(trace_id)?.mayHaveEnded ?? false)
  }

  /** A client has changed the run or its records. */
  changed(trace_id: string): void {
    this.#touch(trace_id, this.#runs.get(trace_id)?.session ?? null, true)
  }

  /** Checks all runs a last time, as if all were idle. */
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
