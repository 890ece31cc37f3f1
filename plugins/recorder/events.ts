import { type CallRecord, decisionAttributes, type SessionEvent } from 'guard-gateway/core'

/** An event as every reader of the history gets it. */
export interface EventV1 {
  readonly schema: 'event.v1'
  readonly id: string
  readonly name: string
  /** Nanoseconds since 1970. */
  readonly time_ns: bigint
  readonly time: string
  readonly trace_id: string | null
  readonly span_id: string | null
  readonly session_id: string
  readonly project_id: string
  readonly agent_id: string | null
  readonly request_id: string | null
  readonly origin: 'gateway'
  readonly severity: SessionEvent['severity']
  readonly attributes: Readonly<Record<string, unknown>>
}

/** The envelope of a history entry; a decision takes its attributes from the call it was about, if that is still on record. */
export const eventV1 = (event: SessionEvent, call: CallRecord | undefined): EventV1 => ({
  schema: 'event.v1',
  id: event.id,
  name: event.name,
  time_ns: BigInt(event.at) * 1_000_000n,
  time: new Date(event.at).toISOString(),
  trace_id: call?.trace_id ?? null,
  span_id: call?.span_id ?? null,
  session_id: event.session_id,
  project_id: event.project_id,
  agent_id: event.agent_id,
  request_id: event.request_id,
  origin: 'gateway',
  severity: event.severity,
  attributes: event.attributes ?? (call === undefined ? { decision: event.decision } : decisionAttributes(call)),
})
