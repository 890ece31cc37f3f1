import { writeJson } from '#lib/json'
import { type CallRecord, callRecords, type TraceEvent, traceOf } from '#lib/trace'
import type { RunRow } from '../tables.ts'
import { NS_PER_MS } from '../time.ts'

/** An event in its delivered form. */
export const eventV1 = (
  event: Omit<TraceEvent, 'owner'>,
  run: Pick<RunRow, 'trace_id' | 'session_id' | 'project_id' | 'agent_id' | 'origin'>,
) => ({
  schema: 'event.v1',
  id: event.id,
  name: event.name,
  time_ns: event.time_ns,
  time: new Date(Number(event.time_ns / NS_PER_MS)).toISOString(),
  trace_id: run.trace_id,
  span_id: event.span_id,
  session_id: run.session_id,
  project_id: run.project_id,
  agent_id: run.agent_id,
  request_id: event.request_id,
  origin: run.origin,
  severity: event.severity,
  attributes: event.attributes,
})

export type EventV1 = ReturnType<typeof eventV1>

/** What is told of a run that has changed. */
export const dataOf = ({ trace_id, project_id, session_id, origin, status, revision }: RunRow): string =>
  writeJson({ trace_id, project_id, session_id, origin, status, revision })

/** Decision of a stored call; undefined without a trace. */
export const decisionOf = (record: CallRecord): EventV1 | undefined => {
  const trace = traceOf(record)
  if (trace === undefined) return undefined
  const { session_id, project_id, agent_id } = record
  const run = { trace_id: trace.trace_id, session_id, project_id, agent_id, origin: 'gateway' as const }
  return eventV1(callRecords(record, trace).event, run)
}
