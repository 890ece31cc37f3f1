import type { Attributes, RepliedTool } from 'guard-gateway/core'
import type { CallRecord } from './call-record.ts'
import { toolSpanId, traceOf } from './call-trace.ts'
import type { TraceSpan } from './run.ts'
import { markOf, resultsIn, type SeenResult } from './turn-text.ts'

/** What a later request tells of a tool call that a reply asked for. */
export interface ToolResult {
  /** Arrival of the first request that holds the result, milliseconds since 1970: the call took so long at most. */
  readonly seen_at: number
  /** Id of that request. */
  readonly seen_in: string
  readonly error: boolean
}

/** A tool call of a reply whose result is not seen yet. */
interface OpenCall {
  readonly span_id: string
  /** The request whose reply asked for it. */
  readonly request_id: string
  readonly tool: string
  readonly mark: string | null
  readonly argument_hash: string
}

type RequestingCall = Pick<CallRecord, 'id' | 'received_at' | 'parent'> & {
  readonly span_id: string | null
  readonly tool_calls: readonly RepliedTool[]
  readonly results: readonly SeenResult[]
}

/** Finds the results of the tool calls of a run: each in the first later request that holds it. */
export class ToolResults {
  readonly #requests: RequestingCall[] = []

  /** Adds a model request of the run, in any order. */
  add(call: CallRecord): void {
    const { id, received_at, parent, turns, tool_calls } = call
    const results = turns === null ? [] : resultsIn(turns)
    if (tool_calls === null && results.length === 0) return
    const span_id = traceOf(call)?.span_id ?? null
    this.#requests.push({ id, received_at, parent, span_id, tool_calls: tool_calls ?? [], results })
  }

  /** Results by the ids of the spans of their calls. */
  bySpan(): ReadonlyMap<string, ToolResult> {
    const found = new Map<string, ToolResult>()
    const open = new OpenCalls()
    for (const request of this.#requests.toSorted(byArrival)) {
      for (const result of request.results)
        for (const { span_id } of open.take(result, request.parent))
          found.set(span_id, { seen_at: request.received_at, seen_in: request.id, error: result.error })
      open.add(request)
    }
    return found
  }
}

const byArrival = (a: RequestingCall, b: RequestingCall): number =>
  a.received_at - b.received_at || (a.id < b.id ? -1 : 1)

/** Tool calls without a result so far, in the order in which replies asked for them. */
class OpenCalls {
  /** By mark; ids may come again, the newest last. */
  readonly #byMark = new Map<string, OpenCall[]>()
  /** By the request whose reply asked for them. */
  readonly #byRequest = new Map<string, Set<OpenCall>>()

  add({ id, span_id, tool_calls }: RequestingCall): void {
    if (span_id === null || tool_calls.length === 0) return
    const calls = new Set<OpenCall>()
    for (const [at, { id: call_id, tool, argument_hash }] of tool_calls.entries()) {
      const mark = call_id === null ? null : markOf(call_id)
      const call = { span_id: toolSpanId(span_id, at), request_id: id, tool, mark, argument_hash }
      calls.add(call)
      if (mark === null) continue
      const others = this.#byMark.get(mark)
      if (others === undefined) this.#byMark.set(mark, [call])
      else others.push(call)
    }
    this.#byRequest.set(id, calls)
  }

  /** Removes and returns the call of a result, with equal calls of the same reply. `parent`: the request that the one with the result extends. */
  take(result: SeenResult, parent: string | null): readonly OpenCall[] {
    const call = this.#named(result, parent) ?? this.#next(result, parent)
    if (call === undefined) return []
    // a conversation holds one of several equal calls of a turn
    const equal = [...(this.#byRequest.get(call.request_id) ?? [])].filter(
      ({ tool, argument_hash, mark }) =>
        mark === call.mark || (mark !== null && tool === call.tool && argument_hash === call.argument_hash),
    )
    const taken = call.mark === null ? [call] : equal
    for (const one of taken) this.#remove(one)
    return taken
  }

  /** The newest call of this id, before others that of the parent: subagents may count their ids alike. */
  #named({ mark }: SeenResult, parent: string | null): OpenCall | undefined {
    const calls = mark === null ? undefined : this.#byMark.get(mark)
    return calls?.findLast(({ request_id }) => request_id === parent) ?? calls?.at(-1)
  }

  /** Where ids are missing or not those of the reply: the next call of the tool that the parent's reply asked for. */
  #next({ tool }: SeenResult, parent: string | null): OpenCall | undefined {
    const calls = parent === null ? undefined : this.#byRequest.get(parent)
    for (const call of calls ?? []) if (call.tool === tool) return call
    return undefined
  }

  #remove(call: OpenCall): void {
    this.#byRequest.get(call.request_id)?.delete(call)
    const calls = call.mark === null ? undefined : this.#byMark.get(call.mark)
    const at = calls?.indexOf(call) ?? -1
    if (at >= 0) calls?.splice(at, 1)
  }
}

const NS = 1_000_000n

/** A span with what was seen of its result; any other span as it is. */
export const withToolResult = <S extends TraceSpan>(span: S, results: ReadonlyMap<string, ToolResult>): S => {
  const result = span.kind === 'tool' && span.owner === 'gateway' ? results.get(span.id) : undefined
  if (result === undefined) return span
  const seen_ns = BigInt(result.seen_at) * NS
  return {
    ...span,
    status: result.error ? 'error' : 'ok',
    end_ns: seen_ns < span.start_ns ? span.start_ns : seen_ns,
    attributes: { ...span.attributes, ...resultAttributes(result) },
  }
}

/** What a result adds to the attributes of its call. */
export const resultAttributes = ({ error }: ToolResult): Attributes => ({
  ...(error ? { 'error.type': TOOL_ERROR } : {}),
  [OBSERVED]: 'next_request',
})

/** The error type of a tool call whose result told a failure. */
export const TOOL_ERROR = 'tool_error'

/** How the end of a tool call is known, where it is not known from the call itself. */
export const OBSERVED = 'guard.tool.observed'
