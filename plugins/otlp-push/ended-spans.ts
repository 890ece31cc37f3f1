import type { Reader, Run, TableName, Tables, TraceEvent, TraceSpan } from 'guard-gateway/core'
import { autoRoot, callRecords, toolRecords, traceOf, wideRoot } from 'guard-gateway/lib/trace'
import { eventsOf } from './span-events.ts'
import type { Waiting } from './span-queue.ts'

/** A span as it is sent: with its parent, and with its events in OTLP/JSON. */
export interface EndedSpan {
  readonly run: Run
  readonly span: TraceSpan
  readonly events: readonly object[]
}

export interface EndedSpans {
  readonly spans: readonly EndedSpan[]
  /** What is not on record, or not yet. */
  readonly missing: readonly Waiting[]
}

/** Reads spans from what is on record, where everything is redacted and whole. One that runs on is left out: it is told of again when it ends. */
export const readEnded = async (storage: Reader, waiting: readonly Waiting[]): Promise<EndedSpans> => {
  const of = (from: Waiting['from']): readonly string[] =>
    waiting.filter((one) => one.from === from).map(({ id }) => id)
  const [calls, tools] = await Promise.all([
    byId(storage, 'calls', of('calls')),
    byId(storage, 'mcp_audit', of('mcp_audit')),
  ])
  const runs = [...Map.groupBy(waiting, ({ trace_id }) => trace_id)]
  const read = await Promise.all(runs.map(([trace_id, own]) => readRun(storage, trace_id, own, { calls, tools })))
  return { spans: read.flatMap(({ spans }) => spans), missing: read.flatMap(({ missing }) => missing) }
}

type ById<N extends TableName> = ReadonlyMap<string, Tables[N]>

/** Rows by their ids; `within`: of this run. */
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
  // in the order of the key, which finds them without going through others
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
  waiting: readonly Waiting[],
  { calls, tools }: Sources,
): Promise<EndedSpans> => {
  const run = await storage.get('runs', trace_id)
  if (run === undefined) return { spans: [], missing: waiting }
  const ids = waiting.filter(({ from }) => from === 'spans' || (from === 'runs' && !run.root_auto)).map(({ id }) => id)
  const rows = await byId(storage, 'spans', ids, { trace_id })
  const found = waiting.map((one) => toldBy(one, run, { calls, tools, rows }))
  const spans = found.flatMap((told) => told?.spans ?? [])
  const derived = found.flatMap((told) => told?.event ?? [])
  const events = await eventsOf(storage, run, spans, derived)
  return {
    spans: spans.map((span) => ({ run, span: placed(span, run), events: events(span) })),
    missing: waiting.filter((_one, index) => found[index] === undefined),
  }
}

type RunRow = Tables['runs']

/** What below the root has no other parent hangs from the root. */
const placed = (span: TraceSpan, { root_span_id }: RunRow): TraceSpan =>
  span.id === root_span_id ? span : { ...span, parent_id: span.parent_id ?? root_span_id }

interface Told {
  readonly spans: readonly TraceSpan[]
  readonly event?: TraceEvent
}
const nothing: Told = { spans: [] }

/** The spans that one row tells; undefined where it is not there. */
const toldBy = (
  { from, id }: Waiting,
  run: RunRow,
  { calls, tools, rows }: Sources & { readonly rows: ById<'spans'> },
): Told | undefined => {
  if (from === 'calls') return toldByCall(calls.get(id))
  if (from === 'mcp_audit') return toldByTool(tools.get(id))
  // another span has become the root meanwhile, of which is told when the run ends
  if (from === 'runs' && id !== run.root_span_id) return nothing
  if (from === 'runs' && run.root_auto) return { spans: [autoRoot(run)] }
  const row = rows.get(id)
  if (row === undefined) return undefined
  if (from === 'runs') return { spans: [wideRoot(row, run)] }
  // the root ends with its run, which may be later
  return row.end_ns === null || id === run.root_span_id ? nothing : { spans: [row] }
}

const toldByCall = (call: Tables['calls'] | undefined): Told | undefined => {
  const trace = call === undefined ? undefined : traceOf(call)
  return call === undefined || trace === undefined ? undefined : callRecords(call, trace)
}

const toldByTool = (tool: Tables['mcp_audit'] | undefined): Told | undefined => {
  if (tool?.traced !== true || tool.outcome === null) return undefined
  const { span, event } = toolRecords(tool)
  return { spans: [span], event }
}
