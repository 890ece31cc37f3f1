import type { CallTrace } from 'guard-gateway/core'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { type SummedCall, summedCall } from './summed-span.ts'

/** Tools of a run that are remembered. */
const MAX_TOOLS = 200

/** The fast path for requests that change nothing but sums of their run. They are summed on demand. */
export class SumOnlyCalls {
  /** Facts of the last request that was fully examined; undefined after any other change of the run. */
  #template: CallFacts | undefined
  /** When the row of the run was written. */
  #written_at = 0
  readonly #tools = new Set<string>()
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
    for (const { tool } of call.tool_calls ?? []) if (this.#tools.size < MAX_TOOLS) this.#tools.add(tool)
  }

  forgetTemplate(): void {
    this.#template = undefined
  }

  /** Undefined: the request does not qualify. */
  take(call: CallRecord, trace: CallTrace): SummedCall | undefined {
    const { ended_at, tool_calls } = call
    if (this.#template === undefined || ended_at <= this.#written_at || !sameFacts(call, this.#template))
      return undefined
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

/** The facts of a request that its run's words and failure tag follow from, tools aside. */
type CallFacts = Pick<
  CallRecord,
  'model_requested' | 'model_replied' | 'upstream' | 'decision' | 'outcome' | 'reason' | 'rule_id' | 'error_type'
>

const factsOf = (call: CallRecord): CallFacts => {
  const { model_requested, model_replied, upstream, decision, outcome, reason, rule_id, error_type } = call
  return { model_requested, model_replied, upstream, decision, outcome, reason, rule_id, error_type }
}

const sameFacts = (call: CallRecord, template: CallFacts): boolean =>
  call.model_requested === template.model_requested &&
  call.model_replied === template.model_replied &&
  call.upstream === template.upstream &&
  call.decision === template.decision &&
  call.outcome === template.outcome &&
  call.reason === template.reason &&
  call.rule_id === template.rule_id &&
  call.error_type === template.error_type
