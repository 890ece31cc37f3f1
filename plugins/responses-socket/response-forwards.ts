import { type Call, type Gateway, type Reply, stages, undecided } from 'guard-gateway/core'

/** After those who answer instead of an upstream, before the upstreams that are asked by HTTP. */
const FORWARD_STAGE = 90

/** How calls that came over a WebSocket go up. It taps hooks when the first WebSocket opens: what does not use them pays nothing. */
export class ResponseForwards {
  readonly #forwards = new WeakMap<Call, () => Reply>()
  readonly #unasked = new WeakSet<Call>()
  #isTapped = false

  /** Taps the hooks, once. */
  tap({ hooks }: Gateway): void {
    if (this.#isTapped) return
    this.#isTapped = true
    hooks.forward.tap({ name: 'responses-socket', stage: FORWARD_STAGE }, (call) => this.#forwards.get(call)?.())
    // what is under way already can be neither held back nor refused
    hooks.decision.tap({ name: 'responses-socket', stage: stages.decision.pause + 1 }, (decision, call) =>
      this.#unasked.has(call) ? undecided : decision,
    )
    hooks.decision.tap({ name: 'responses-socket', stage: stages.decision.rules + 1 }, (decision, call) =>
      this.#unasked.has(call) && decision.decision !== 'allow'
        ? { ...decision, decision: 'allow', reason: null, rule_id: null, message: '' }
        : decision,
    )
  }

  set(call: Call, forward: () => Reply): void {
    this.#forwards.set(call, forward)
  }

  /** Nobody has asked for this one: it is recorded, whatever the rules say. */
  setUnasked(call: Call, forward: () => Reply): void {
    this.#unasked.add(call)
    call.notes.unasked = true
    this.set(call, forward)
  }
}
