import type { Reader, TableName, Tables } from 'guard-gateway/core'
import { otlpArtifact, otlpEvent } from '#lib/otlp'
import { pages } from '#lib/paging'
import {
  type Artifact,
  type CallRecord,
  callRecords,
  defaultRootSpan,
  enclosingRootSpan,
  type Run,
  ToolResults,
  type TraceEvent,
  type TraceSpan,
  toolRecords,
  traceOf,
  withToolResult,
} from '#lib/trace'
import type { QueuedSpans } from './export-queue.ts'

/** A span with its parent, and with its events in OTLP/JSON. */
export interface EndedSpan {
  readonly run: Run
  readonly span: TraceSpan
  readonly events: readonly object[]
}

export interface EndedSpans {
  readonly spans: readonly EndedSpan[]
  /** Spans whose rows are not stored (yet). */
  readonly missing: readonly QueuedSpans[]
}

/** Reads spans from stored rows, which are redacted and complete. A running span is skipped, and queued again when it ends. */
export const readEnded = async (storage: Reader, queued: readonly QueuedSpans[]): Promise<EndedSpans> => {
  const of = (from: QueuedSpans['from']): readonly string[] =>
    queued.filter((one) => one.from === from).map(({ id }) => id)
  const [calls, tools] = await Promise.all([
    byId(storage, 'calls', [...new Set([...of('calls'), ...of('results')])]),
    byId(storage, 'mcp_audit', of('mcp_audit')),
  ])
  const runs = [...Map.groupBy(queued, ({ trace_id }) => trace_id)]
  const read = await Promise.all(runs.map(([trace_id, own]) => readRun(storage, trace_id, own, { calls, tools })))
  return { spans: read.flatMap(({ spans }) => spans), missing: read.flatMap(({ missing }) => missing) }
}

type ById<N extends TableName> = ReadonlyMap<string, Tables[N]>

/** Rows by id; `within` restricts them to a run. */
const byId = async <N extends 'calls' | 'mcp_audit' | 'spans'>(
  storage: Reader,
  table: N,
  ids: readonly string[],
  within: { readonly trace_id?: string } = {},
): Promise<ById<N>> => {
  if (ids.length === 0) return new Map()
  const find = storage.find as (
    name: N,
    query: { readonly where: object; readonly order: readonly ['id', 'asc']; readonly limit: number },
  ) => Promise<{ readonly rows: readonly Tables[N][] }>
  // ordering by the key avoids a scan
  const { rows } = await find(table, { where: { ...within, id: { in: ids } }, order: ['id', 'asc'], limit: ids.length })
  return new Map(rows.map((row) => [row.id, row]))
}

interface Sources {
  readonly calls: ById<'calls'>
  readonly tools: ById<'mcp_audit'>
}

const readRun = async (
  storage: Reader,
  trace_id: string,
  queued: readonly QueuedSpans[],
  { calls, tools }: Sources,
): Promise<EndedSpans> => {
  const run = await storage.get('runs', trace_id)
  if (run === undefined) return { spans: [], missing: queued }
  const ids = queued.filter(({ from }) => from === 'spans' || (from === 'runs' && !run.root_auto)).map(({ id }) => id)
  const rows = await byId(storage, 'spans', ids, { trace_id })
  const results = await toolsWithResults(storage, trace_id, queued)
  const found = queued.map((one) => spansOfRow(one, run, { calls, tools, rows, results }))
  const spans = found.flatMap((row) => row?.spans ?? [])
  const derived = found.flatMap((row) => row?.event ?? [])
  const events = await eventsOf(storage, run, spans, derived)
  return {
    spans: spans.map((span) => ({ run, span: withParent(span, run), events: events(span) })),
    missing: queued.filter((_one, index) => found[index] === undefined),
  }
}

type RunRow = Tables['runs']

/** A span without a parent becomes a child of the root. */
const withParent = (span: TraceSpan, { root_span_id }: RunRow): TraceSpan =>
  span.id === root_span_id ? span : { ...span, parent_id: span.parent_id ?? root_span_id }

interface RowSpans {
  readonly spans: readonly TraceSpan[]
  readonly event?: TraceEvent
}
const noSpans: RowSpans = { spans: [] }

/** Spans of a row; undefined if the row is missing. */
const spansOfRow = (
  { from, id }: QueuedSpans,
  run: RunRow,
  { calls, tools, rows, results }: Sources & { readonly rows: ById<'spans'>; readonly results: SpansByRequest },
): RowSpans | undefined => {
  if (from === 'calls') return spansOfCall(calls.get(id))
  if (from === 'results') return calls.has(id) ? { spans: results.get(id) ?? [] } : undefined
  if (from === 'mcp_audit') return spansOfTool(tools.get(id))
  return spansOfSpan({ from, id }, run, rows)
}

/** Spans of a span with a row of its own, or of the root of a run. */
const spansOfSpan = (
  { from, id }: Pick<QueuedSpans, 'from' | 'id'>,
  run: RunRow,
  rows: ById<'spans'>,
): RowSpans | undefined => {
  // another span has become the root, and is queued when the run ends
  if (from === 'runs' && id !== run.root_span_id) return noSpans
  if (from === 'runs' && run.root_auto) return { spans: [defaultRootSpan(run)] }
  const row = rows.get(id)
  if (row === undefined) return undefined
  if (from === 'runs') return { spans: [enclosingRootSpan(row, run)] }
  // the root ends with its run, which may be later
  return row.end_ns === null || id === run.root_span_id ? noSpans : { spans: [row] }
}

/** The span of a request; tool calls of its reply end later. */
const spansOfCall = (call: Tables['calls'] | undefined): RowSpans | undefined => {
  const trace = call === undefined ? undefined : traceOf(call)
  if (call === undefined || trace === undefined) return undefined
  const { spans, event } = callRecords(call, trace)
  return { spans: [spans[0]], event }
}

const spansOfTool = (tool: Tables['mcp_audit'] | undefined): RowSpans | undefined => {
  if (tool?.traced !== true || tool.outcome === null) return undefined
  const { span, event } = toolRecords(tool)
  return { spans: [span], event }
}

/** Spans of tool calls by the request that holds their results. */
type SpansByRequest = ReadonlyMap<string, readonly TraceSpan[]>

/** Newest requests of a run among which the calls of results are looked for. */
const RECENT_CALLS = 100

/** Tool calls that end with a queued request. */
const toolsWithResults = async (
  storage: Reader,
  trace_id: string,
  queued: readonly QueuedSpans[],
): Promise<SpansByRequest> => {
  const resultIds = new Set(queued.filter(({ from }) => from === 'results').map(({ id }) => id))
  const spans = new Map<string, TraceSpan[]>()
  if (resultIds.size === 0) return spans
  const { rows } = await storage.find('calls', { where: { trace_id }, limit: RECENT_CALLS + resultIds.size })
  const found = new ToolResults()
  for (const call of rows) found.add(call)
  const results = found.bySpan()
  for (const span of rows.flatMap(toolsOf)) {
    const { seen_in = '' } = results.get(span.id) ?? {}
    if (resultIds.has(seen_in)) spans.set(seen_in, [...(spans.get(seen_in) ?? []), withToolResult(span, results)])
  }
  return spans
}

const toolsOf = (call: CallRecord): readonly TraceSpan[] => {
  const trace = call.tool_calls === null ? undefined : traceOf(call)
  return trace === undefined ? [] : callRecords(call, trace).spans.slice(1)
}

/** Limit of events, and of artifacts, per run in a batch. */
const MAX_RECORDS = 10_000

/** Events and artifacts by span, in OTLP/JSON. Those without a span belong to the root. */
const eventsOf = async (
  storage: Reader,
  run: RunRow,
  spans: readonly TraceSpan[],
  derived: readonly TraceEvent[],
): Promise<(span: TraceSpan) => readonly object[]> => {
  const [events, artifacts] = await Promise.all([
    run.event_count === 0 ? [] : recordsOf(storage, 'events', run, spans),
    run.artifact_count === 0 ? [] : recordsOf(storage, 'artifacts', run, spans),
  ])
  const ownEvents = Map.groupBy([...derived, ...events], ({ span_id }) => span_id)
  const ownArtifacts = Map.groupBy<string | null, Artifact>(artifacts, ({ span_id }) => span_id)
  const ofLevel = (span: TraceSpan, level: 'span' | 'run'): readonly object[] => {
    const key = level === 'run' ? null : span.id
    return [
      ...(ownEvents.get(key) ?? []).map((event) => otlpEvent(event, level)),
      ...(ownArtifacts.get(key) ?? []).map((artifact) => otlpArtifact(artifact, span, level)),
    ]
  }
  return (span) => [...ofLevel(span, 'span'), ...(span.id === run.root_span_id ? ofLevel(span, 'run') : [])]
}

const recordsOf = async <N extends 'events' | 'artifacts'>(
  storage: Reader,
  table: N,
  { trace_id, root_span_id }: RunRow,
  spans: readonly TraceSpan[],
): Promise<readonly Tables[N][]> => {
  const ids = spans.map(({ id }) => id)
  const tests: readonly unknown[] = ids.includes(root_span_id) ? [{ in: ids }, null] : [{ in: ids }]
  const records: Tables[N][] = []
  for (const span_id of ids.length === 0 ? [] : tests) {
    const where = { trace_id, span_id } as object
    for await (const page of pages(storage, table, { where, order: ['recorded', 'asc'] })) {
      records.push(...page)
      if (records.length >= MAX_RECORDS) return records.slice(0, MAX_RECORDS)
    }
  }
  return records
}
