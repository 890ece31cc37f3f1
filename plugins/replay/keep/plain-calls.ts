import type { CallTrace } from 'guard-gateway/core'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { type SummedCall, summedCall } from './summed-span.ts'

/** Tools of a run that are remembered. */
const MAX_TOOLS = 200

/** Requests of a run that move nothing but its sums: known at a glance, and summed up when somebody asks for the sums. */
export class PlainCalls {
  /** What one said that was looked at; nothing else was said of the run since. */
  #like: Said | undefined
  /** When the row of the run was written. */
  #written_at = 0
  readonly #tools = new Set<string>()
  #calls: SummedCall[] = []
  #size = 0
  #ended_at = 0

  /** How many spans those have that are not summed up yet. */
  get size(): number {
    return this.#size
  }

  /** When the last of all ended, milliseconds since 1970. */
  get ended_at(): number {
    return this.#ended_at
  }

  /** From now on such a request is plain where it ends after the row was written. */
  like(call: CallRecord, written_at: number): void {
    this.#like = said(call)
    this.#written_at = written_at
    for (const { tool } of call.tool_calls ?? []) if (this.#tools.size < MAX_TOOLS) this.#tools.add(tool)
  }

  forgetLike(): void {
    this.#like = undefined
  }

  /** Undefined: the request has to be looked at. */
  take(call: CallRecord, trace: CallTrace): SummedCall | undefined {
    const { ended_at, tool_calls } = call
    if (this.#like === undefined || ended_at <= this.#written_at || !saysNoMore(call, this.#like)) return undefined
    if (tool_calls !== null) for (const { tool } of tool_calls) if (!this.#tools.has(tool)) return undefined
    const summed = summedCall(call, trace)
    this.#calls.push(summed)
    this.#size += 1 + summed.tool_count
    this.#ended_at = Math.max(this.#ended_at, ended_at)
    return summed
  }

  /** Those that are not summed up yet; the caller does it. */
  empty(): readonly SummedCall[] {
    const calls = this.#calls
    this.#calls = []
    this.#size = 0
    return calls
  }
}

/** What a request says of its run, tools aside: its words and its signs of failure. */
type Said = Pick<
  CallRecord,
  'model_requested' | 'model_replied' | 'upstream' | 'decision' | 'outcome' | 'reason' | 'rule_id' | 'error_type'
>

const said = (call: CallRecord): Said => {
  const { model_requested, model_replied, upstream, decision, outcome, reason, rule_id, error_type } = call
  return { model_requested, model_replied, upstream, decision, outcome, reason, rule_id, error_type }
}

const saysNoMore = (call: CallRecord, like: Said): boolean =>
  call.model_requested === like.model_requested &&
  call.model_replied === like.model_replied &&
  call.upstream === like.upstream &&
  call.decision === like.decision &&
  call.outcome === like.outcome &&
  call.reason === like.reason &&
  call.rule_id === like.rule_id &&
  call.error_type === like.error_type
