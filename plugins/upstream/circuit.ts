/** When a circuit opens. */
export interface CircuitOptions {
  /** Failures one after another; 0: never. */
  readonly failures: number
  /** How long nothing is sent then, in seconds. */
  readonly open_seconds: number
}

export type CircuitState = 'closed' | 'open' | 'half_open'

/**
 * Stops requests to an upstream that fails again and again. Once it has been open long enough, one request is let through;
 * what comes of it closes the circuit or opens it anew. Times are ticks, in milliseconds.
 */
export class Circuit {
  /** Failures one after another, up to now. */
  failures = 0
  readonly #limit: number
  readonly #openMs: number
  /** When the next request may try; undefined while closed. */
  #until: number | undefined
  #isTried = false

  constructor({ failures, open_seconds }: CircuitOptions) {
    this.#limit = failures
    this.#openMs = open_seconds * 1_000
  }

  state(now: number): CircuitState {
    if (this.#until === undefined) return 'closed'
    return now < this.#until ? 'open' : 'half_open'
  }

  /** A request may be sent: always while closed, and one at a time while half open. */
  isPassable(now: number): boolean {
    return this.#until === undefined || (now >= this.#until && !this.#isTried)
  }

  /** Milliseconds until the next request may try. */
  wait(now: number): number {
    return Math.max(0, (this.#until ?? now) - now)
  }

  /** A request is sent. */
  enter(): void {
    this.#isTried = this.#until !== undefined
  }

  /** It was answered. */
  succeeded(): void {
    this.failures = 0
    this.#until = undefined
    this.#isTried = false
  }

  /** It was not, or by an error of the server. */
  failed(now: number): void {
    this.failures++
    if (this.#limit > 0 && this.failures >= this.#limit) this.#until = now + this.#openMs
    this.#isTried = false
  }

  /** It was given up for a reason that says nothing of the upstream. */
  left(): void {
    this.#isTried = false
  }
}
