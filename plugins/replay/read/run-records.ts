import type { Reader } from 'guard-gateway/core'
import {
  type Artifact,
  type CallRecord,
  callRecords,
  type ToolRecord,
  type TraceEvent,
  type TraceSpan,
  toolRecords,
  traceOf,
} from '#lib/trace'
import type { RunRow } from '../tables.ts'
import { pagesOf } from '../write/stored-records.ts'

/** The row of another table that contains a record; undefined for a record with its own row. */
export type Source = { readonly table: 'calls' | 'mcp_audit'; readonly id: string } | undefined

/** Records of one row: a call or tool call has spans and an event. */
export interface RowRecords {
  readonly spans: readonly TraceSpan[]
  readonly events: readonly TraceEvent[]
  readonly artifacts: readonly Artifact[]
  readonly from: Source
  /** The model request that the records are of. */
  readonly call?: CallRecord
}

const none: RowRecords = { spans: [], events: [], artifacts: [], from: undefined }

export const recordsOfSpan = (span: TraceSpan): RowRecords => ({ ...none, spans: [span] })
const recordsOfEvent = (event: TraceEvent): RowRecords => ({ ...none, events: [event] })
const recordsOfArtifact = (artifact: Artifact): RowRecords => ({ ...none, artifacts: [artifact] })

const recordsOfCall = (call: CallRecord): RowRecords => {
  const trace = traceOf(call)
  if (trace === undefined) return none
  const { spans, event } = callRecords(call, trace)
  return { ...none, spans, events: [event], from: { table: 'calls', id: call.id }, call }
}

const recordsOfTool = (tool: ToolRecord): RowRecords => {
  const { span, event } = toolRecords(tool)
  return { ...none, spans: [span], events: [event], from: { table: 'mcp_audit', id: tool.id } }
}

/** Spans and events of a run in pages. A table is left out where the counts of the run say that nothing of it is there. */
export async function* spanAndEventPages(
  storage: Reader,
  { trace_id, root_auto, span_count, event_count }: RunRow,
  rows: number,
): AsyncGenerator<readonly RowRecords[]> {
  const where = { trace_id }
  let spans = root_auto ? 1 : 0
  for await (const page of pagesOf(storage, 'spans', where, rows)) {
    spans += page.length
    yield page.map(recordsOfSpan)
  }
  if (spans < span_count) {
    for await (const page of pagesOf(storage, 'calls', where, rows)) yield page.map(recordsOfCall)
    if (storage.has('mcp_audit'))
      for await (const page of pagesOf(storage, 'mcp_audit', { trace_id, traced: true }, rows))
        yield page.map(recordsOfTool)
  }
  if (event_count === 0) return
  for await (const page of pagesOf(storage, 'events', where, rows)) yield page.map(recordsOfEvent)
}

/** All records of a run in pages: spans, calls, tool calls, events and artifacts, each in order of writing. */
export async function* recordPages(
  storage: Reader,
  trace_id: string,
  rows: number,
): AsyncGenerator<readonly RowRecords[]> {
  const where = { trace_id }
  for await (const page of pagesOf(storage, 'spans', where, rows)) yield page.map(recordsOfSpan)
  for await (const page of pagesOf(storage, 'calls', where, rows)) yield page.map(recordsOfCall)
  if (storage.has('mcp_audit'))
    for await (const page of pagesOf(storage, 'mcp_audit', { trace_id, traced: true }, rows))
      yield page.map(recordsOfTool)
  for await (const page of pagesOf(storage, 'events', where, rows)) yield page.map(recordsOfEvent)
  for await (const page of pagesOf(storage, 'artifacts', where, rows)) yield page.map(recordsOfArtifact)
}

/** Row ids of a run by table. */
export interface RowIds {
  readonly spans: readonly string[]
  readonly events: readonly string[]
  readonly artifacts: readonly string[]
  readonly sources: Iterable<NonNullable<Source>>
}

/** Current records of these rows; deleted rows have none. */
export const recordsOfRows = async (storage: Reader, trace_id: string, ids: RowIds): Promise<readonly RowRecords[]> => {
  // ordering by the key avoids a scan of the run
  const byId = (ids: readonly string[]) => ({
    where: { trace_id, id: { in: ids } },
    order: ['id', 'asc'] as const,
    limit: ids.length,
  })
  const [spans, events, artifacts, sources] = await Promise.all([
    ids.spans.length === 0 ? none.spans : storage.find('spans', byId(ids.spans)).then(({ rows }) => rows),
    ids.events.length === 0 ? none.events : storage.find('events', byId(ids.events)).then(({ rows }) => rows),
    ids.artifacts.length === 0
      ? none.artifacts
      : storage.find('artifacts', byId(ids.artifacts)).then(({ rows }) => rows),
    Promise.all(Array.from(ids.sources, (source) => recordsOfSource(storage, source))),
  ])
  return [...spans.map(recordsOfSpan), ...events.map(recordsOfEvent), ...artifacts.map(recordsOfArtifact), ...sources]
}

const recordsOfSource = async (storage: Reader, { table, id }: NonNullable<Source>): Promise<RowRecords> => {
  if (table === 'calls') {
    const call = await storage.get('calls', id)
    return call === undefined ? none : recordsOfCall(call)
  }
  const tool = await storage.get('mcp_audit', id)
  return tool === undefined ? none : recordsOfTool(tool)
}
