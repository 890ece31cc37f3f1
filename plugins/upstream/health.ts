import type { CircuitState } from './circuit.ts'
import type { Upstream } from './upstream.ts'

/** What `/api/health` says of an upstream, and metrics tell. No key is named. */
export interface UpstreamHealth {
  readonly name: string
  readonly styles: readonly string[]
  readonly models: readonly string[]
  /** Requests go to it; otherwise to a stand-in, or nowhere. */
  readonly ready: boolean
  readonly circuit: CircuitState
  /** Attempts that failed, one after another, up to now. */
  readonly failures: number
  /** How long it is still not asked, in seconds: 0 if it is. */
  readonly wait_seconds: number
  /** Keys there are, and those of them that rest; absent for an upstream of one key. */
  readonly keys?: { readonly count: number; readonly resting: number }
}

/** The health of an upstream in this process, at this tick. */
export const healthOf = ({ name, styles, models, availability }: Upstream, tick: number): UpstreamHealth => {
  const { circuit, keys } = availability
  const wait = Math.max(availability.rest(tick), circuit.wait(tick))
  return {
    name,
    styles,
    models,
    ready: availability.isReady(tick),
    circuit: circuit.state(tick),
    failures: circuit.failures,
    wait_seconds: Math.ceil(wait / 1_000),
    ...(keys === undefined ? {} : { keys: { count: keys.size, resting: keys.resting(tick) } }),
  }
}
