import {
  allInput,
  type CallRecord,
  type CallTrace,
  type ToolRecord,
  type TraceSpan,
  toolSpanId,
  toolTimes,
} from 'guard-gateway/core'
import { NS_PER_MS } from '../time.ts'
import type { SummedSpan } from './run-spans.ts'

/** What a run's summary needs of a span. */
export const summedSpan = (span: TraceSpan): SummedSpan => ({
  id: span.id,
  parent: span.parent_id,
  status: span.status,
  start_ns: span.start_ns,
  end_ns: span.end_ns,
  guarded: span.owner !== 'client',
  use:
    span.kind !== 'model' || (span.input_tokens === null && span.output_tokens === null && span.cost_micro === null)
      ? null
      : { input: span.input_tokens ?? 0n, output: span.output_tokens ?? 0n, cost: span.cost_micro ?? 0n },
})

/** The same of a model request that went well and of its tool calls, without making their spans: it lies on the way of every request. */
export const summedCall = (call: CallRecord, { span_id, parent_span_id }: CallTrace): readonly SummedSpan[] => {
  const start_ns = BigInt(call.received_at) * NS_PER_MS
  const end_ns = call.ended_at > call.received_at ? BigInt(call.ended_at) * NS_PER_MS : start_ns
  const ended = { status: 'ok', end_ns, guarded: true }
  const use = {
    input: BigInt(allInput(call)),
    output: BigInt(call.output_tokens),
    cost: BigInt(call.cost_micro ?? 0),
  }
  const request: SummedSpan = { id: span_id, parent: parent_span_id, start_ns, ...ended, use }
  if (call.tool_calls === null) return [request]
  const tools = call.tool_calls.map(
    (_, at): SummedSpan => ({ id: toolSpanId(span_id, at), parent: span_id, start_ns: end_ns, ...ended, use: null }),
  )
  return [request, ...tools]
}

/** The same of a call of a tool that went well. */
export const summedTool = (record: ToolRecord): SummedSpan => ({
  id: record.span_id ?? '',
  parent: record.parent_span_id,
  status: 'ok',
  ...toolTimes(record),
  guarded: true,
  use: null,
})
