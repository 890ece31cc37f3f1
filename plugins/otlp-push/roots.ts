import type { Gateway, Session, Tables } from 'guard-gateway/core'

/** A run that nobody gave a root has ended when nothing was heard of it for so long. */
const QUIET_MS = 60_000
const TURN_MS = 2_000
const MAX_RUNS = 10_000

/** A run of which something was heard. */
interface Heard {
  /** Monotonic time, milliseconds. */
  readonly at: number
  /** The session of the request that was heard of: others of it may be under way. */
  readonly session: Session | null
  /** Something was said of the run by others: it may have ended. */
  readonly isTold: boolean
}

type RunRow = Tables['runs']

/** Tells of the roots of runs: of one that somebody gave when its run has ended, of any other when its run is quiet. */
export class Roots {
  readonly #gateway: Gateway
  readonly #ended: (run: RunRow) => void
  /** Least recently heard of first. */
  readonly #runs = new Map<string, Heard>()
  #timer: NodeJS.Timeout | undefined

  /** `ended` may be told of a root again, if something is heard of its run again. */
  constructor(gateway: Gateway, ended: (run: RunRow) => void) {
    this.#gateway = gateway
    this.#ended = ended
  }

  /** A request or a call of a tool has ended. */
  called(trace_id: string, session: Session | null): void {
    this.#hear(trace_id, session, this.#runs.get(trace_id)?.isTold ?? false)
  }

  /** Something was said of the run itself or of its records. */
  told(trace_id: string): void {
    this.#hear(trace_id, this.#runs.get(trace_id)?.session ?? null, true)
  }

  /** Looks at all runs a last time: none goes on. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    const runs = [...this.#runs.keys()]
    this.#runs.clear()
    await Promise.all(runs.map((trace_id) => this.#look(trace_id, true)))
  }

  #hear(trace_id: string, session: Session | null, isTold: boolean): void {
    this.#runs.delete(trace_id)
    this.#runs.set(trace_id, { at: this.#gateway.clock.tick(), session, isTold })
    if (this.#runs.size > MAX_RUNS) this.#forgetOldest()
    this.#timer ??= setTimeout(() => void this.#turn(), TURN_MS).unref()
  }

  #forgetOldest(): void {
    const [oldest] = this.#runs.keys()
    if (oldest === undefined) return
    this.#runs.delete(oldest)
    void this.#look(oldest, true)
  }

  async #turn(): Promise<void> {
    const quiet_since = this.#gateway.clock.tick() - QUIET_MS
    for (const [trace_id, heard] of [...this.#runs]) {
      const isQuiet = heard.at <= quiet_since && (heard.session?.open ?? 0) === 0
      if (isQuiet) this.#runs.delete(trace_id)
      else if (heard.isTold) this.#runs.set(trace_id, { ...heard, isTold: false })
      if (isQuiet || heard.isTold) await this.#look(trace_id, isQuiet)
    }
    this.#timer = this.#runs.size === 0 ? undefined : setTimeout(() => void this.#turn(), TURN_MS).unref()
  }

  /** Tells of the root if its run has ended. Never rejects. */
  async #look(trace_id: string, isQuiet: boolean): Promise<void> {
    try {
      const run = await this.#gateway.storage.get('runs', trace_id)
      if (run !== undefined && run.end_ns !== null && (isQuiet || !run.root_auto)) this.#ended(run)
    } catch (error) {
      this.#gateway.fault(error, 'otlp-push')
    }
  }
}
