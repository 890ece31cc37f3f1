import { GuardError, type Reader } from 'guard-gateway/core'
import {
  buildSpanTreePaced,
  callRecords,
  defaultRootSpan,
  enclosingRootSpan,
  ToolResults,
  type Trace,
  type TraceEvent,
  type TraceSpan,
  toolRecords,
  traceOf,
  withToolResult,
} from '#lib/trace'
import { replayErrors } from '../error-codes.ts'
import type { RunRow } from '../tables.ts'
import { storedRecords } from '../write/stored-records.ts'
import { foldCalls } from './folded-calls.ts'

/** A stored run. Throws RUN_NOT_FOUND. */
export const runById = async (storage: Reader, trace_id: string): Promise<RunRow> => {
  const run = await storage.get('runs', trace_id)
  if (run === undefined)
    throw new GuardError(replayErrors.RUN_NOT_FOUND, `There is no run "${trace_id}". List them with GET /api/v1/runs.`)
  return run
}

/** A complete run as a tree, including its model requests; each tool call is one span, as `foldCalls` puts it. Throws RUN_NOT_FOUND. */
export const readTrace = async (storage: Reader, trace_id: string): Promise<Trace> => {
  const run = await runById(storage, trace_id)
  const stored = await storedRecords(storage, trace_id)
  const spans: TraceSpan[] = run.root_auto ? [defaultRootSpan(run)] : []
  const events: TraceEvent[] = []
  for (const span of stored.spans) spans.push(span.id === run.root_span_id ? enclosingRootSpan(span, run) : span)
  const found = new ToolResults()
  for (const call of stored.calls) found.add(call)
  const results = found.bySpan()
  for (const call of stored.calls) {
    const trace = traceOf(call)
    if (trace === undefined) continue
    const records = callRecords(call, trace)
    for (const span of records.spans) spans.push(withToolResult(span, results))
    events.push(records.event)
  }
  for (const tool of stored.tools) {
    const { span, event } = toolRecords(tool)
    spans.push(span)
    events.push(event)
  }
  for (const event of stored.events) events.push(event)
  const folded = foldCalls(spans, events, run.root_span_id)
  const { artifacts } = stored
  return buildSpanTreePaced(namedAnew(run, folded.aliases), run.root_span_id, { ...folded, artifacts })
}

/** The run, its evidence on the span that is left. */
const namedAnew = (run: RunRow, aliases: ReadonlyMap<string, string>): RunRow => {
  const { failure_evidence: evidence } = run
  const span_id = evidence?.span_id == null ? undefined : aliases.get(evidence.span_id)
  return evidence === null || span_id === undefined ? run : { ...run, failure_evidence: { ...evidence, span_id } }
}
