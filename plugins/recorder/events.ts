import { type CallRecord, decisionAttributes, decisionEventId, type SessionEvent } from '#lib/trace'

/** Event name of a request's decision in its session's history. */
export const DECISION = 'policy.decision'

/** An event of the history. */
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

const timed = (at: number) => ({ time_ns: BigInt(at) * 1_000_000n, time: new Date(at).toISOString() })

/** The decision of a stored call. A call always has the same event id. */
export const decisionV1 = (call: CallRecord, session_id: string): EventV1 => ({
  schema: 'event.v1',
  id: decisionEventId(call.id),
  name: DECISION,
  ...timed(call.received_at),
  trace_id: call.trace_id,
  span_id: call.span_id,
  session_id,
  project_id: call.project_id,
  agent_id: call.agent_id,
  request_id: call.id,
  origin: 'gateway',
  severity: call.decision === 'allow' ? 'info' : 'warn',
  attributes: decisionAttributes(call),
})

/** An event of a session other than a request. */
export const eventV1 = (event: SessionEvent): EventV1 => ({
  schema: 'event.v1',
  id: event.id,
  name: event.name,
  ...timed(event.at),
  trace_id: null,
  span_id: null,
  session_id: event.session_id,
  project_id: event.project_id,
  agent_id: event.agent_id,
  request_id: event.request_id,
  origin: 'gateway',
  severity: event.severity,
  attributes: event.attributes ?? {},
})
