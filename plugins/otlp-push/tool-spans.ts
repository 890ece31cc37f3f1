import type { Reader } from 'guard-gateway/core'
import {
  type CallRecord,
  callRecords,
  ToolResults,
  type TraceSpan,
  traceOf,
  withToolResult,
} from 'guard-gateway/lib/trace'
import type { QueuedSpans } from './export-queue.ts'

/** Spans of tool calls by the request that holds their results. */
export type SpansByRequest = ReadonlyMap<string, readonly TraceSpan[]>

/** Newest requests of a run among which the calls of results are looked for. */
const RECENT_CALLS = 100

/** Tool calls that end with a queued request. */
export const toolsWithResults = async (
  storage: Reader,
  trace_id: string,
  queued: readonly QueuedSpans[],
): Promise<SpansByRequest> => {
  const wanted = new Set(queued.filter(({ from }) => from === 'results').map(({ id }) => id))
  const spans = new Map<string, TraceSpan[]>()
  if (wanted.size === 0) return spans
  const { rows } = await storage.find('calls', { where: { trace_id }, limit: RECENT_CALLS + wanted.size })
  const found = new ToolResults()
  for (const call of rows) found.add(call)
  const results = found.bySpan()
  for (const span of rows.flatMap(toolsOf)) {
    const { seen_in = '' } = results.get(span.id) ?? {}
    if (wanted.has(seen_in)) spans.set(seen_in, [...(spans.get(seen_in) ?? []), withToolResult(span, results)])
  }
  return spans
}

const toolsOf = (call: CallRecord): readonly TraceSpan[] => {
  const trace = call.tool_calls === null ? undefined : traceOf(call)
  return trace === undefined ? [] : callRecords(call, trace).spans.slice(1)
}
