import type { Call, Reading, Redactor, Row, SessionRow, Settled } from 'guard-gateway/core'
import { calledTool } from 'guard-gateway/lib/request-reader'
import { cutText } from 'guard-gateway/lib/text'
import { type CallRecord, turnText } from 'guard-gateway/lib/trace'
import type { Previews } from './preview.ts'

/** Characters of names that upstreams and clients choose freely. */
const NAME_CHARS = 256
/** Calls of one reply that are kept. */
const MAX_REPLIED = 512

/** The `calls` row of a settled call. `continues`: a later request may name its reply. */
export const callRecord = (settled: Settled, redact: Redactor, previews: Previews, continues: boolean): CallRecord => {
  const { call, decision, reading, usage } = settled
  const { conversation, envelope, session } = call
  const row = decision.row ?? unjudged(call)
  const replyId = shortOrNull(reading.response_id, redact)
  return {
    id: call.id,
    session_id: session === null ? null : session.row.id,
    project_id: call.project_id,
    agent_id: call.agent_id,
    client: call.client,
    style: call.style,
    path: call.path,
    model_requested: short(envelope.model, redact),
    model_replied: shortOrNull(reading.model, redact),
    stream: envelope.stream,
    max_tokens: wholeOrNull(envelope.max_tokens),
    temperature: envelope.temperature,
    mode: call.mode,
    decision: decision.decision,
    reason: decision.reason,
    rule_id: decision.rule_id,
    matches: unlessEmpty(decision.matches),
    policy_version: decision.policy_version,
    probe: decision.probe,
    faults: unlessEmpty(decision.faults),
    notes: memberedOrNull(call.notes),
    outcome: settled.outcome,
    status: settled.status,
    error_type: errorType(settled, redact),
    error_fingerprint: row.error_fingerprint,
    upstream: settled.upstream,
    server_address: addressIn(settled),
    attempts: settled.attempts.length,
    upstream_request_id: shortOrNull(settled.upstream_request_id, redact),
    retry: row.retry,
    retries: 0,
    last_at: null,
    last_request_id: null,
    received_at: call.at,
    forwarded_at: settled.forwarded_at,
    first_byte_at: settled.first_byte_at,
    ended_at: settled.ended_at,
    bytes_in: call.body.length,
    bytes_out: settled.bytes_out,
    input_tokens: usage.input_tokens,
    cache_read_tokens: usage.cache_read_tokens,
    cache_write_tokens: usage.cache_write_tokens,
    cache_write_5m_tokens: usage.cache_write_5m_tokens,
    cache_write_1h_tokens: usage.cache_write_1h_tokens,
    output_tokens: usage.output_tokens,
    reasoning_tokens: usage.reasoning_tokens,
    total_tokens: usage.total_tokens,
    usage_source: settled.usage_source,
    finish_reason: shortOrNull(reading.finish_reason, redact),
    response_id: continues ? replyId : null,
    reply_id: continues ? null : replyId,
    fingerprint: conversation.fingerprint,
    chain_tip: row.chain_tip,
    talk_tip: row.talk_tip,
    items: conversation.chain.length,
    talk_items: row.talk_items,
    thread: row.thread,
    root: row.root,
    parent: row.parent,
    keys: row.keys,
    turns: turnsOrNull(row, redact),
    new_turns: null,
    replied_calls: continues ? repliedCalls(reading, redact) : null,
    measures: memberedOrNull(row.measures),
    request_preview: previews.request,
    response_preview: previews.response,
    trace_id: call.trace?.trace_id ?? null,
    span_id: call.trace?.span_id ?? null,
    parent_span_id: call.trace?.parent_span_id ?? null,
    tool_calls: unlessEmpty(settled.tool_calls ?? []),
    cost_micro: settled.cost?.cost_micro ?? null,
    cost_source: settled.cost?.cost_source ?? null,
    price_version: settled.cost?.price_version ?? null,
  }
}

/** Hashes, as what is kept of turns; a client that leaves its history out gives results by these ids. */
const repliedCalls = ({ calls }: Reading, redact: Redactor): CallRecord['replied_calls'] =>
  unlessEmpty(
    calls
      .slice(-MAX_REPLIED)
      .flatMap(({ id, tool, args }) =>
        id === null ? [] : [{ id: short(id, redact), ...calledTool(tool, args), tool: redact.text(tool) }],
      ),
  )

const turnsOrNull = (
  { new_turns, user_first }: Pick<Row, 'new_turns' | 'user_first'>,
  redact: Redactor,
): string | null =>
  user_first === null ? null : turnText(new_turns, (name) => cutText(redact.text(name), NAME_CHARS), user_first)

const wholeOrNull = (count: number | null): number | null => (Number.isSafeInteger(count) ? count : null)

const addressIn = ({ attempts }: Settled): string | null => attempts.at(-1)?.address ?? null

/** Columns of a request that no rule judged, since its session or agent is paused: a thread of its own. */
const unjudged = ({ id, conversation, retry_mark }: Call) => ({
  chain_tip: conversation.chain.tip,
  talk_tip: conversation.talk.tip,
  talk_items: conversation.talk.length,
  thread: id,
  root: true,
  parent: null,
  keys: [],
  new_turns: [],
  user_first: null,
  measures: {},
  retry: retry_mark,
  error_fingerprint: null,
})

/** The columns of a session that every request changes. */
export const sessionTotals = (row: SessionRow): Partial<SessionRow> => ({
  requests: row.requests,
  flagged: row.flagged,
  blocked: row.blocked,
  errors: row.errors,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  total_tokens: row.total_tokens,
  cache_read_tokens: row.cache_read_tokens,
  cost_micro: row.cost_micro,
  last_seen_at: row.last_seen_at,
})

const errorType = ({ error }: Settled, redact: Redactor): string | null =>
  error === null ? null : shortOrNull(error.type ?? error.code, redact)

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list)

const memberedOrNull = <T extends object>(value: T): T | null => {
  for (const _ in value) return value
  return null
}

const shortOrNull = (text: string | null, redact: Redactor): string | null =>
  text === null ? null : short(text, redact)

/** Redacts before it cuts, so that no half of a secret stays; the store redacts short text. */
const short = (text: string, redact: Redactor): string =>
  text.length <= NAME_CHARS ? text : cutText(redact.text(text), NAME_CHARS)
