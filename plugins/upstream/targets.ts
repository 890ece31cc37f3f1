import { type Clock, GuardError } from 'guard-gateway/core'
import { type Answer, statusesOfFailure, statusesOfKeys, statusesOfLogins } from './availability.ts'
import { upstreamErrors } from './error-codes.ts'
import type { HeaderRules } from './headers.ts'
import { needsLogin } from './login.ts'
import type { Upstream } from './upstream.ts'

/** Where one request goes, one place after another: the keys of an upstream, then its stand-ins. What comes of each is told to that upstream. */
export class Targets {
  readonly #upstreams: readonly Upstream[]
  readonly #clock: Clock
  #at = 0
  /** Keys that were shown, where there are several. */
  #usedKeys: Set<HeaderRules> | undefined
  #current: Upstream

  /**
   * `upstreams`: the one that was chosen, then those that can be in for it. One that rests or whose circuit is open is passed over where
   * another is ready; where none is, the first that may be asked at all is. Throws CIRCUIT_OPEN.
   */
  constructor(upstreams: readonly [Upstream, ...Upstream[]], clock: Clock) {
    this.#upstreams = upstreams
    this.#clock = clock
    const tick = clock.tick()
    const ready = upstreams.findIndex(({ availability }) => availability.isReady(tick))
    const passable = ready === -1 ? upstreams.findIndex((each) => each.availability.circuit.isPassable(tick)) : ready
    if (passable === -1) throw circuitOpen(upstreams[0], tick)
    this.#at = passable
    this.#current = this.#entered()
  }

  /** The upstream that is asked, with the headers of the key that is shown. */
  get current(): Upstream {
    return this.#current
  }

  /** It is the upstream that was chosen, and not a stand-in. */
  get isChosen(): boolean {
    return this.#at === 0
  }

  /** Takes note of an answer; true: it is not the last word, and `current` is asked next. */
  goesOn(answer: Answer): boolean {
    const { status } = answer
    const upstream = this.#current
    const { availability, rules } = upstream
    const cools = isCooled(upstream, status) && this.#upstreams.length > 1
    availability.answered(answer, rules, cools, { now: this.#clock.now(), tick: this.#clock.tick() })
    if (statusesOfKeys.has(status) && this.#anotherKey()) return true
    return (cools || statusesOfFailure.has(status)) && this.#nextUpstream()
  }

  /** Takes note that there was no answer, by the fault of the upstream or not. True as for `goesOn`. */
  goesOnWithout(isItsFault: boolean): boolean {
    this.#current.availability.failed(isItsFault, this.#clock.tick())
    return isItsFault && this.#nextUpstream()
  }

  #anotherKey(): boolean {
    const rules = this.#current.availability.keys?.another(this.#usedKeys ?? new Set(), this.#clock.tick())
    if (rules === undefined) return false
    this.#current = this.#showing(this.#current, rules)
    return true
  }

  #nextUpstream(): boolean {
    const tick = this.#clock.tick()
    const next = this.#upstreams.findIndex((each, index) => index > this.#at && each.availability.isReady(tick))
    if (next === -1) return false
    this.#at = next
    this.#current = this.#entered()
    return true
  }

  #entered(): Upstream {
    const upstream = this.#upstreams[this.#at] as Upstream
    const { circuit, keys } = upstream.availability
    circuit.enter()
    return keys === undefined ? upstream : this.#showing(upstream, keys.first(this.#clock.tick()))
  }

  #showing(upstream: Upstream, rules: HeaderRules): Upstream {
    this.#usedKeys ??= new Set()
    this.#usedKeys.add(rules)
    return { ...upstream, rules }
  }
}

/** The configuration sends a request with this answer to a stand-in. What is said of a client's own login is the client's to hear. */
const isCooled = (upstream: Upstream, status: number): boolean =>
  upstream.fallback_on.has(status) && !(needsLogin(upstream) && statusesOfLogins.has(status))

const circuitOpen = ({ name, availability: { circuit } }: Upstream, tick: number): GuardError => {
  const seconds = Math.max(1, Math.ceil(circuit.wait(tick) / 1_000))
  return new GuardError(
    upstreamErrors.CIRCUIT_OPEN,
    `Upstream "${name}" has failed ${circuit.failures} times in a row, so it is not asked for another ${seconds} s. Try again then, or give it a fallback.`,
    {
      headers: { 'retry-after': String(seconds) },
      attempts: [{ upstream: name, status: null, error: 'CIRCUIT_OPEN' }],
    },
  )
}
