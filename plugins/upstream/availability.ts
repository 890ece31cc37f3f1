import { Circuit, type CircuitOptions } from './circuit.ts'
import { coolDown } from './cool-down.ts'
import type { HeaderRules } from './headers.ts'
import type { KeyPool } from './key-pool.ts'

/** Both clocks at one moment. */
export interface Times {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Monotonic milliseconds. */
  readonly tick: number
}

/** What an upstream answered. */
export interface Answer {
  readonly status: number
  readonly headers: readonly string[]
}

/** What is known of whether an upstream can serve: its circuit, its keys, and until when it is not to be asked. Kept by each process for itself. */
export class Availability {
  readonly circuit: Circuit
  /** Undefined for an upstream of one key, or of none. */
  readonly keys: KeyPool<HeaderRules> | undefined
  /** Tick until which requests go to a stand-in. */
  #restUntil = 0

  constructor(circuit: CircuitOptions, keys: KeyPool<HeaderRules> | undefined) {
    this.circuit = new Circuit(circuit)
    this.keys = keys
  }

  /** Milliseconds for which requests still go to a stand-in. */
  rest(tick: number): number {
    return Math.max(0, this.#restUntil - tick)
  }

  isReady(tick: number): boolean {
    return this.#restUntil <= tick && this.circuit.isPassable(tick)
  }

  /** Takes note of an answer. `rules`: those of the key that was shown. `cools`: a refusal sends the next requests elsewhere for a while. */
  answered({ status, headers }: Answer, rules: HeaderRules, cools: boolean, { now, tick }: Times): void {
    if (statusesOfFailure.has(status)) this.circuit.failed(tick)
    else this.circuit.succeeded()
    if (status < 400) this.keys?.free(rules)
    const refused = statusesOfKeys.has(status) && this.keys !== undefined
    if (!refused && !cools) return
    const until = tick + coolDown(status, headers, now)
    if (refused) this.keys?.rest(rules, until)
    if (cools) this.#restUntil = refused ? this.keys.freeAt() : until
  }

  /** There was no answer, by the fault of the upstream or not. */
  failed(isItsFault: boolean, tick: number): void {
    if (isItsFault) this.circuit.failed(tick)
    else this.circuit.left()
  }
}

/** Statuses that say that the server fails, so that another upstream may do better. */
export const statusesOfFailure: ReadonlySet<number> = new Set([500, 502, 503, 504, 529])

/** Statuses that speak of the key: it is wrong, has no credit, or is used too often. Another key may do better. */
export const statusesOfKeys: ReadonlySet<number> = new Set([401, 402, 429])

/** Statuses that speak of who sends a request, or of how much; a client's own login answers for these. */
export const statusesOfLogins: ReadonlySet<number> = new Set([401, 402, 403, 429])
