import type { CallTrace } from 'guard-gateway/core'
import {
  type CallRecord,
  type ToolRecord,
  type TraceSpan,
  toolSpanId,
  toolTimes,
  totalInputTokens,
  UNSEEN,
} from '#lib/trace'
import { hasUse } from '../read/counted-spans.ts'
import { cachedTokensOf } from '../read/model-tokens.ts'
import { replyOf } from '../repeated-calls.ts'
import { NS_PER_MS } from '../time.ts'
import type { SummedSpan, Use } from './span-table.ts'

/** The fields of a span that a run's summary needs. */
export const summedSpan = (span: TraceSpan): SummedSpan => {
  const use = useOf(span)
  const reply = use === null ? undefined : replyOf(span)
  return {
    id: span.id,
    parent: span.parent_id,
    start_ns: span.start_ns,
    // a tool call without a seen result does not keep its run running
    ...(span.status === UNSEEN
      ? { status: 'ok', end_ns: span.end_ns ?? span.start_ns }
      : { status: span.status, end_ns: span.end_ns }),
    guarded: span.owner !== 'client',
    use,
    ...(reply === undefined ? {} : { reply }),
  }
}

const useOf = (span: TraceSpan): Use | null =>
  hasUse(span)
    ? {
        input: span.input_tokens ?? 0n,
        cached: cachedTokensOf(span) ?? 0n,
        output: span.output_tokens ?? 0n,
        cost: span.cost_micro ?? 0n,
      }
    : null

/** The fields of a successful model request that its run needs: whole records would stay in memory until the row is written. */
export interface SummedCall {
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly received_at: number
  readonly ended_at: number
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly output_tokens: number
  readonly cost_micro: number
  /** Tool calls of its reply. */
  readonly tool_count: number
}

export const summedCall = (call: CallRecord, { span_id, parent_span_id }: CallTrace): SummedCall => ({
  span_id,
  parent_span_id,
  received_at: call.received_at,
  ended_at: Math.max(call.received_at, call.ended_at),
  input_tokens: totalInputTokens(call),
  cached_tokens: call.cache_read_tokens,
  output_tokens: call.output_tokens,
  cost_micro: call.cost_micro ?? 0,
  tool_count: call.tool_calls?.length ?? 0,
})

/** The spans of the request and of its tool calls. */
export const spansOfCall = (call: SummedCall): readonly SummedSpan[] => {
  const { span_id, tool_count } = call
  const end_ns = BigInt(call.ended_at) * NS_PER_MS
  const ended = { status: 'ok', end_ns, guarded: true }
  const use = {
    input: BigInt(call.input_tokens),
    cached: BigInt(call.cached_tokens),
    output: BigInt(call.output_tokens),
    cost: BigInt(call.cost_micro),
  }
  const start_ns = BigInt(call.received_at) * NS_PER_MS
  const spans: SummedSpan[] = [{ id: span_id, parent: call.parent_span_id, start_ns, ...ended, use }]
  for (let at = 0; at < tool_count; at++)
    spans.push({ id: toolSpanId(span_id, at), parent: span_id, start_ns: end_ns, ...ended, use: null })
  return spans
}

/** The span of a successful tool call. */
export const summedTool = (record: ToolRecord): SummedSpan => ({
  id: record.span_id ?? '',
  parent: record.parent_span_id,
  status: 'ok',
  ...toolTimes(record),
  guarded: true,
  use: null,
})
