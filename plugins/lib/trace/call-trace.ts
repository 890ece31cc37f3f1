import type { Attributes, CallTrace, RepliedTool } from 'guard-gateway/core'
import type { CallRecord } from './call-record.ts'
import type { TraceSpan as Span, TraceEvent } from './run.ts'

const NS = 1_000_000n
const LABEL_CHARS = 128

/** The record of a call as the spans and the event it stands for: the request, the tool calls its reply asked for, the decision. */
export const callRecords = (
  record: CallRecord,
  trace: CallTrace,
): { readonly spans: readonly [Span, ...Span[]]; readonly event: TraceEvent } => ({
  spans: [
    requestSpan(record, trace),
    ...(record.tool_calls ?? []).map((tool, at) => toolSpan(record, trace, tool, at)),
  ],
  event: decisionEvent(record, trace),
})

/** The trace columns of a record; undefined for one that belongs to no trace. */
export const traceOf = ({ trace_id, span_id, parent_span_id }: CallRecord): CallTrace | undefined =>
  trace_id === null || span_id === null ? undefined : { trace_id, span_id, parent_span_id }

/** Id of the span of a reply's tool call, by its place among them: 16 hex digits of the request's span. */
export const toolSpanId = (span_id: string, at: number): string => {
  const low = (BigInt(`0x${span_id}`) + BigInt(at + 1) * STEP) & MASK
  return low.toString(16).padStart(16, '0')
}
const STEP = 0x9e37_79b9_7f4a_7c15n
const MASK = 0xffff_ffff_ffff_ffffn

const ns = (ms: number): bigint => BigInt(ms) * NS

const requestSpan = (record: CallRecord, trace: CallTrace): Span => ({
  id: trace.span_id,
  parent_id: trace.parent_span_id,
  name: 'gen_ai.request',
  kind: 'model',
  label: labelOf(record.model_requested),
  status: record.outcome === 'ok' ? 'ok' : record.outcome === 'client_aborted' ? 'cancelled' : 'error',
  status_message: failureOf(record),
  start_ns: ns(record.received_at),
  end_ns: ns(Math.max(record.received_at, record.ended_at)),
  owner: 'gateway',
  model: record.model_replied ?? record.model_requested,
  input_tokens: BigInt(totalInputTokens(record)),
  output_tokens: BigInt(record.output_tokens),
  cost_micro: BigInt(record.cost_micro ?? 0),
  attributes: requestAttributes(record),
})

const LEAST_ERROR = 400

/** Why a request failed, as `529 overloaded_error`; null if it did not. */
const failureOf = ({ outcome, status, reason, error_type }: CallRecord): string | null => {
  if (outcome === 'ok') return null
  const type = outcome === 'blocked' ? (reason ?? outcome) : (error_type ?? outcome)
  return status < LEAST_ERROR ? type : `${status} ${type}`
}

/** A name as the label of a span, which may be shorter. */
export const labelOf = (text: string): string =>
  text.length <= LABEL_CHARS ? text : text.slice(0, LABEL_CHARS).toWellFormed()

/** Uncached, cache read and cache write together. */
export const totalInputTokens = (record: CallRecord): number =>
  record.input_tokens + record.cache_read_tokens + record.cache_write_tokens

const OPERATIONS: Readonly<Record<string, string>> = {
  chat_completions: 'chat',
  messages: 'chat',
  responses: 'chat',
  gemini: 'generate_content',
  ollama: 'chat',
}

const requestAttributes = (record: CallRecord): Attributes =>
  present({
    'gen_ai.operation.name': OPERATIONS[record.style] ?? record.style,
    'gen_ai.provider.name': record.upstream,
    'gen_ai.request.model': record.model_requested,
    'gen_ai.request.stream': record.stream,
    'gen_ai.request.max_tokens': record.max_tokens,
    'gen_ai.request.temperature': record.temperature,
    'gen_ai.response.id': record.response_id ?? record.reply_id,
    'gen_ai.response.model': record.model_replied,
    'gen_ai.response.finish_reasons': record.finish_reason === null ? null : [record.finish_reason],
    [record.style === 'responses' || record.style === 'chat_completions'
      ? 'openai.response.service_tier'
      : 'gen_ai.response.service_tier']: record.service_tier,
    'guard.inference_geo': record.inference_geo,
    'gen_ai.response.time_to_first_chunk':
      record.first_byte_at === null ? null : Math.max(0, record.first_byte_at - record.received_at) / 1000,
    'gen_ai.usage.input_tokens': totalInputTokens(record),
    'gen_ai.usage.output_tokens': record.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': record.cache_read_tokens,
    'gen_ai.usage.cache_creation.input_tokens': record.cache_write_tokens,
    'server.address': record.server_address,
    'http.response.status_code': record.status === 0 ? null : record.status,
    'error.type': record.outcome === 'blocked' ? 'guard_block' : (record.error_type ?? unlessOk(record.outcome)),
    'guard.request_id': record.id,
    'guard.api_style': record.style,
    'guard.mode': record.mode,
    'guard.decision': record.decision,
    'guard.reason': record.reason,
    'guard.rule_id': record.rule_id,
    'guard.usage_source': record.usage_source,
    'guard.outcome': record.outcome,
    'guard.cost_micro': record.cost_micro ?? 0,
    'guard.cost_source': record.cost_source,
    'guard.price_version': record.price_version,
    'guard.fingerprint': record.fingerprint,
    'guard.error_fingerprint': record.error_fingerprint,
    'guard.preview.input': record.request_preview,
    'guard.preview.output': record.response_preview,
  })

const unlessOk = (outcome: CallRecord['outcome']): string | null => (outcome === 'ok' ? null : outcome)

/** Attributes without those that are null. Takes them over. */
export const present = (attributes: Record<string, unknown>): Attributes => {
  for (const name in attributes) if (attributes[name] === null) delete attributes[name]
  return attributes
}

/** Status of a tool call whose result no later request held. It has no end, and does not run for all that is known. */
export const UNSEEN = 'unset'

const toolSpan = (record: CallRecord, { span_id }: CallTrace, called: RepliedTool, at: number): Span => ({
  id: toolSpanId(span_id, at),
  parent_id: span_id,
  name: 'tool.call',
  kind: 'tool',
  label: labelOf(called.tool),
  status: UNSEEN,
  status_message: null,
  start_ns: ns(Math.max(record.received_at, record.ended_at)),
  end_ns: null,
  owner: 'gateway',
  model: null,
  input_tokens: null,
  output_tokens: null,
  cost_micro: null,
  attributes: present({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': called.tool,
    'gen_ai.tool.call.id': called.id,
    'guard.argument_hash': called.argument_hash,
  }),
})

/** Id of the decision event of a request: `guardreq_x` decides in `evt_x`. */
export const decisionEventId = (requestId: string): string => `evt_${requestId.slice(requestId.indexOf('_') + 1)}`

const decisionEvent = (record: CallRecord, { span_id }: CallTrace): TraceEvent => ({
  id: decisionEventId(record.id),
  span_id,
  name: 'policy.decision',
  time_ns: ns(record.received_at),
  severity: record.decision === 'allow' ? 'info' : 'warn',
  owner: 'gateway',
  request_id: record.id,
  attributes: decisionAttributes(record),
})

/** What was decided, why, and what happened then: `decision` is the policy's word, `forwarded` the fact. */
export const decisionAttributes = (call: CallRecord): Attributes => {
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
