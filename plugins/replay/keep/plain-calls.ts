import type { CallRecord } from 'guard-gateway/core'

/** Tools of a run that are remembered. */
const MAX_TOOLS = 200

/** Requests of a run that move nothing but its sums: known at a glance, and summed up when somebody asks for the sums. */
export class PlainCalls {
  /** One that was looked at; nothing else was said of the run since. */
  #like: CallRecord | undefined
  /** When the row of the run was written. */
  #written_at = 0
  readonly #tools = new Set<string>()
  #calls: CallRecord[] = []
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
    this.#like = call
    this.#written_at = written_at
    for (const { tool } of call.tool_calls ?? []) if (this.#tools.size < MAX_TOOLS) this.#tools.add(tool)
  }

  forgetLike(): void {
    this.#like = undefined
  }

  /** False: the request has to be looked at. */
  take(call: CallRecord): boolean {
    const { ended_at, tool_calls } = call
    if (this.#like === undefined || ended_at <= this.#written_at || !isAlike(call, this.#like)) return false
    if (tool_calls !== null) for (const { tool } of tool_calls) if (!this.#tools.has(tool)) return false
    this.#calls.push(call)
    this.#size += 1 + (tool_calls?.length ?? 0)
    this.#ended_at = Math.max(this.#ended_at, ended_at)
    return true
  }

  /** Those that are not summed up yet; the caller does it. */
  empty(): readonly CallRecord[] {
    const calls = this.#calls
    this.#calls = []
    this.#size = 0
    return calls
  }
}

/** Whether a request says of its run what another one said, tools aside: no further word and no other sign of failure. */
const isAlike = (call: CallRecord, other: CallRecord): boolean =>
  call.model_requested === other.model_requested &&
  call.model_replied === other.model_replied &&
  call.upstream === other.upstream &&
  call.decision === other.decision &&
  call.outcome === other.outcome &&
  call.reason === other.reason &&
  call.rule_id === other.rule_id &&
  call.error_type === other.error_type
