import type { CallTrace } from 'guard-gateway/core'
import type { CallRecord } from '#lib/trace'
import { type SummedCall, summedCall } from './summed-span.ts'

/** Tools of a run that are remembered. */
const MAX_TOOLS = 200
/** Finish reasons of a run that are remembered. */
const MAX_FINISHES = 20

/** The fast path for requests that change nothing but sums of their run. They are summed on demand. */
export class SumOnlyCalls {
  /** Facts of the last request that was fully examined; undefined after any other change of the run. */
  #template: CallFacts | undefined
  /** When the row of the run was written. */
  #written_at = 0
  readonly #tools = new Set<string>()
  readonly #finishes = new Set<string | null>()
  #calls: SummedCall[] = []
  #size = 0
  #ended_at = 0

  /** Number of spans that are not summed yet. */
  get size(): number {
    return this.#size
  }

  /** When the last of all requests ended, in milliseconds since 1970. */
  get ended_at(): number {
    return this.#ended_at
  }

  /** Requests with the same facts that end after `written_at` take the fast path from now on. */
  setTemplate(call: CallRecord, written_at: number): void {
    this.#template = factsOf(call)
    this.#written_at = written_at
    if (this.#finishes.size < MAX_FINISHES) this.#finishes.add(call.finish_reason)
    for (const { tool } of call.tool_calls ?? []) if (this.#tools.size < MAX_TOOLS) this.#tools.add(tool)
  }

  forgetTemplate(): void {
    this.#template = undefined
  }

  /** Undefined: the request does not qualify. */
  take(call: CallRecord, trace: CallTrace): SummedCall | undefined {
    const { ended_at, tool_calls, finish_reason } = call
    if (this.#template === undefined || ended_at <= this.#written_at || !sameFacts(call, this.#template))
      return undefined
    if (!this.#finishes.has(finish_reason)) return undefined
    if (tool_calls !== null) for (const { tool } of tool_calls) if (!this.#tools.has(tool)) return undefined
    const summed = summedCall(call, trace)
    this.#calls.push(summed)
    this.#size += 1 + summed.tool_count
    this.#ended_at = Math.max(this.#ended_at, ended_at)
    return summed
  }

  /** Removes and returns the requests that are not summed yet. */
  drain(): readonly SummedCall[] {
    const calls = this.#calls
    this.#calls = []
    this.#size = 0
    return calls
  }
}

/** The columns of a request that words, attributes and failure tag of its run follow from; tools and finish reasons, which alternate, are apart. */
export type CallFacts = Pick<
  CallRecord,
  | 'model_requested'
  | 'model_replied'
  | 'style'
  | 'stream'
  | 'mode'
  | 'decision'
  | 'outcome'
  | 'reason'
  | 'rule_id'
  | 'policy_version'
  | 'status'
  | 'error_type'
  | 'upstream'
  | 'server_address'
  | 'usage_source'
  | 'cost_source'
  | 'price_version'
  | 'service_tier'
  | 'inference_geo'
  | 'notes'
>

export const factsOf = (call: CallRecord): CallFacts => ({
  model_requested: call.model_requested,
  model_replied: call.model_replied,
  style: call.style,
  stream: call.stream,
  mode: call.mode,
  decision: call.decision,
  outcome: call.outcome,
  reason: call.reason,
  rule_id: call.rule_id,
  policy_version: call.policy_version,
  status: call.status,
  error_type: call.error_type,
  upstream: call.upstream,
  server_address: call.server_address,
  usage_source: call.usage_source,
  cost_source: call.cost_source,
  price_version: call.price_version,
  service_tier: call.service_tier,
  inference_geo: call.inference_geo,
  notes: call.notes,
})

export const sameFacts = (call: CallRecord, facts: CallFacts): boolean =>
  call.model_requested === facts.model_requested &&
  call.model_replied === facts.model_replied &&
  call.style === facts.style &&
  call.stream === facts.stream &&
  call.mode === facts.mode &&
  call.decision === facts.decision &&
  call.outcome === facts.outcome &&
  call.reason === facts.reason &&
  call.rule_id === facts.rule_id &&
  call.policy_version === facts.policy_version &&
  call.status === facts.status &&
  call.error_type === facts.error_type &&
  call.upstream === facts.upstream &&
  call.server_address === facts.server_address &&
  call.usage_source === facts.usage_source &&
  call.cost_source === facts.cost_source &&
  call.price_version === facts.price_version &&
  call.service_tier === facts.service_tier &&
  call.inference_geo === facts.inference_geo &&
  sameNotes(call.notes, facts.notes)

const sameNotes = (some: CallRecord['notes'], others: CallRecord['notes']): boolean =>
  some === others || (some !== null && others !== null && JSON.stringify(some) === JSON.stringify(others))
