import {
  arrange,
  callRecords,
  GuardError,
  type Reader,
  type Trace,
  type TraceEvent,
  type TraceSpan,
  toolRecords,
  traceOf,
} from 'guard-gateway/core'
import { storedRecords } from '../keep/stored-records.ts'
import type { RunRow } from '../tables.ts'

/** A stored run. Throws RUN_NOT_FOUND. */
export const runById = async (storage: Reader, trace_id: string): Promise<RunRow> => {
  const run = await storage.get('runs', trace_id)
  if (run === undefined)
    throw new GuardError('RUN_NOT_FOUND', `There is no run "${trace_id}". List them with GET /api/v1/runs.`)
  return run
}

/** A whole run as a tree; model requests are read from their records. Throws RUN_NOT_FOUND. */
export const readTrace = async (storage: Reader, trace_id: string): Promise<Trace> => {
  const run = await runById(storage, trace_id)
  const stored = await storedRecords(storage, trace_id)
  const spans: TraceSpan[] = run.root_auto ? [autoRoot(run)] : []
  const events: TraceEvent[] = []
  for (const span of stored.spans) spans.push(span.id === run.root_span_id ? widened(span, run) : span)
  for (const call of stored.calls) {
    const trace = traceOf(call)
    if (trace === undefined) continue
    const records = callRecords(call, trace)
    spans.push(...records.spans)
    events.push(records.event)
  }
  for (const tool of stored.tools) {
    const { span, event } = toolRecords(tool)
    spans.push(span)
    events.push(event)
  }
  for (const event of stored.events) events.push(event)
  return arrange(run, run.root_span_id, { spans, events, artifacts: stored.artifacts })
}

/** The root covers everything below it. */
export const widened = <S extends TraceSpan>(root: S, { start_ns, end_ns }: RunRow): S => ({
  ...root,
  parent_id: null,
  start_ns,
  end_ns,
})

/** The root of a run that nobody gave one. */
export const autoRoot = (run: RunRow): TraceSpan => ({
  id: run.root_span_id,
  parent_id: null,
  name: 'agent.run',
  kind: 'agent',
  label: null,
  status: run.status,
  status_message: null,
  start_ns: run.start_ns,
  end_ns: run.end_ns,
  owner: OWNERS[run.origin] ?? 'client',
  model: null,
  input_tokens: null,
  output_tokens: null,
  cost_micro: null,
  attributes: {},
})

const OWNERS: Readonly<Partial<Record<RunRow['origin'], TraceSpan['owner']>>> = {
  gateway: 'gateway',
  playground: 'gateway',
  mcp: 'mcp',
}
