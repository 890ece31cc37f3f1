import type { Artifact, Reader, TraceEvent, TraceSpan } from 'guard-gateway/core'
import { type CallRecord, callRecords, type ToolRecord, toolRecords, traceOf } from 'guard-gateway/lib/trace'
import { pagesOf } from '../keep/stored-records.ts'

/** The row of another table that a record is read from; undefined for a record with a row of its own. */
export type Source = { readonly table: 'calls' | 'mcp_audit'; readonly id: string } | undefined

/** The records that one row tells: a call and a call of a tool are spans and an event. */
export interface Told {
  readonly spans: readonly TraceSpan[]
  readonly events: readonly TraceEvent[]
  readonly artifacts: readonly Artifact[]
  readonly from: Source
}

const none: Told = { spans: [], events: [], artifacts: [], from: undefined }

export const toldBySpan = (span: TraceSpan): Told => ({ ...none, spans: [span] })
const toldByEvent = (event: TraceEvent): Told => ({ ...none, events: [event] })
const toldByArtifact = (artifact: Artifact): Told => ({ ...none, artifacts: [artifact] })

const toldByCall = (call: CallRecord): Told => {
  const trace = traceOf(call)
  if (trace === undefined) return none
  const { spans, event } = callRecords(call, trace)
  return { ...none, spans, events: [event], from: { table: 'calls', id: call.id } }
}

const toldByTool = (tool: ToolRecord): Told => {
  const { span, event } = toolRecords(tool)
  return { ...none, spans: [span], events: [event], from: { table: 'mcp_audit', id: tool.id } }
}

/** All records of a run, so many rows at a time: spans, calls, calls of tools, events and artifacts, each as they were written. */
export async function* toldOf(storage: Reader, trace_id: string, rows: number): AsyncGenerator<readonly Told[]> {
  const where = { trace_id }
  for await (const page of pagesOf(storage, 'spans', where, rows)) yield page.map(toldBySpan)
  for await (const page of pagesOf(storage, 'calls', where, rows)) yield page.map(toldByCall)
  if (storage.has('mcp_audit'))
    for await (const page of pagesOf(storage, 'mcp_audit', { trace_id, traced: true }, rows)) yield page.map(toldByTool)
  for await (const page of pagesOf(storage, 'events', where, rows)) yield page.map(toldByEvent)
  for await (const page of pagesOf(storage, 'artifacts', where, rows)) yield page.map(toldByArtifact)
}

/** Rows of a run by their ids, of each table that it stands in. */
export interface WantedRows {
  readonly spans: readonly string[]
  readonly events: readonly string[]
  readonly artifacts: readonly string[]
  readonly sources: Iterable<NonNullable<Source>>
}

/** What these rows tell now; nothing of a row that is gone. */
export const toldByRows = async (storage: Reader, trace_id: string, wanted: WantedRows): Promise<readonly Told[]> => {
  // in the order of the key, which finds them without going through the run
  const asked = (ids: readonly string[]) => ({
    where: { trace_id, id: { in: ids } },
    order: ['id', 'asc'] as const,
    limit: ids.length,
  })
  const [spans, events, artifacts, sources] = await Promise.all([
    wanted.spans.length === 0 ? none.spans : storage.find('spans', asked(wanted.spans)).then(({ rows }) => rows),
    wanted.events.length === 0 ? none.events : storage.find('events', asked(wanted.events)).then(({ rows }) => rows),
    wanted.artifacts.length === 0
      ? none.artifacts
      : storage.find('artifacts', asked(wanted.artifacts)).then(({ rows }) => rows),
    Promise.all(Array.from(wanted.sources, (source) => toldBySource(storage, source))),
  ])
  return [...spans.map(toldBySpan), ...events.map(toldByEvent), ...artifacts.map(toldByArtifact), ...sources]
}

const toldBySource = async (storage: Reader, { table, id }: NonNullable<Source>): Promise<Told> => {
  if (table === 'calls') {
    const call = await storage.get('calls', id)
    return call === undefined ? none : toldByCall(call)
  }
  const tool = await storage.get('mcp_audit', id)
  return tool === undefined ? none : toldByTool(tool)
}
