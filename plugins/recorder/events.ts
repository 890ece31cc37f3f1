import type { CallRecord, SessionEvent } from 'guard-gateway/core'

/** An event as every reader of the history gets it. */
export interface EventV1 {
  readonly schema: 'event.v1'
  readonly id: string
  readonly name: string
  /** Nanoseconds since 1970. */
  readonly time_ns: bigint
  readonly time: string
  readonly trace_id: null
  readonly span_id: null
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
  trace_id: null,
  span_id: null,
  session_id: event.session_id,
  project_id: event.project_id,
  agent_id: event.agent_id,
  request_id: event.request_id,
  origin: 'gateway',
  severity: event.severity,
  attributes: event.attributes ?? (call === undefined ? { decision: event.decision } : decisionAttributes(call)),
})

/** What was decided, why, and what happened then: `decision` is the policy's word, `forwarded` the fact. */
export const decisionAttributes = (call: CallRecord): Readonly<Record<string, unknown>> => {
  const deciding = call.matches?.find((match) => match.rule_id === call.rule_id)
  return {
    ...call.notes,
    decision: call.decision,
    mode: call.mode,
    reason_code: call.reason,
    rule_id: call.rule_id,
    rule_type: deciding?.rule_type ?? null,
    action: deciding?.action ?? null,
    policy_version: call.policy_version === '' ? null : call.policy_version,
    argument_hash: deciding?.key ?? null,
    forwarded: call.forwarded_at !== null,
    upstream: call.upstream,
    style: call.style,
    model: call.model_requested,
    bytes: call.bytes_in,
    outcome: call.outcome,
    retries: call.retries,
    last_at: call.last_at,
    last_request_id: call.last_request_id,
    probe: call.probe,
    faults: call.faults ?? [],
    matches: call.matches ?? [],
  }
}
