import {
  type CallSource,
  errorType,
  memberedOrNull,
  repliedCalls,
  short,
  shortOrNull,
  turnsOrNull,
  unlessEmpty,
  wholeOrNull,
} from './call-source.ts'
import { fact } from './fact.ts'

const replyId = ({ settled, redact }: CallSource): string | null => shortOrNull(settled.reading.response_id, redact)

/**
 * What is on record of one guarded request, a fact an entry: its column in table `calls`, its member of `CallRecord`, and where it comes
 * from. Times are milliseconds since 1970, sizes bytes. Hashes, names, counts and outcomes; text only in the two previews.
 * Columns are added at the end of what they belong to; a stored name stays.
 */
export const callFacts = {
  id: fact('text', ({ call }) => call.id, 'exact', 'remembered'),
  session_id: fact('text', ({ call: { session } }) => (session === null ? null : session.row.id), 'exact'),
  project_id: fact('text', ({ call }) => call.project_id, 'exact', 'repeated'),
  agent_id: fact('text', ({ call }) => call.agent_id, 'exact'),
  /** The user agent. */
  client: fact('text', ({ call }) => call.client, 'repeated'),
  style: fact('text', ({ call }) => call.style, 'exact', 'repeated'),
  path: fact('text', ({ call }) => call.path, 'exact', 'repeated'),
  model_requested: fact('text', ({ call, redact }) => short(call.envelope.model, redact), 'repeated'),
  model_replied: fact('text', ({ settled, redact }) => shortOrNull(settled.reading.model, redact), 'repeated'),
  /** `http`, or `websocket`. */
  transport: fact('text', ({ call }): string => call.transport ?? 'http', 'exact', 'repeated'),
  /** The lane of its WebSocket that it named. */
  stream_id: fact('text', ({ call, redact }) => shortOrNull(call.stream_id ?? null, redact), 'repeated'),
  stream: fact('boolean', ({ call }) => call.envelope.stream, 'repeated'),
  /** Tokens the reply may have, as asked for. */
  max_tokens: fact('integer', ({ call }) => wholeOrNull(call.envelope.max_tokens), 'repeated'),
  temperature: fact('real', ({ call }) => call.envelope.temperature),
  mode: fact('text', ({ call }) => call.mode, 'exact', 'repeated'),
  decision: fact('text', ({ decision }) => decision.decision, 'exact', 'repeated', 'remembered'),
  reason: fact('text', ({ decision }) => decision.reason, 'exact', 'remembered'),
  rule_id: fact('text', ({ decision }) => decision.rule_id, 'exact', 'remembered'),
  /** Null: no rule matched. */
  matches: fact('json', ({ decision }) => unlessEmpty(decision.matches)),
  policy_version: fact('text', ({ decision }) => decision.policy_version, 'exact', 'repeated'),
  probe: fact('boolean', ({ decision }) => decision.probe, 'remembered'),
  /** Rules whose detector failed; null if none did. */
  faults: fact('json', ({ decision }) => unlessEmpty(decision.faults)),
  /** Further facts of the decision event; null if there are none. */
  notes: fact('json', ({ call }): Readonly<Record<string, unknown>> | null => memberedOrNull(call.notes)),
  outcome: fact('text', ({ settled }) => settled.outcome, 'exact', 'repeated', 'remembered'),
  /** Sent to the client; 0 if it left before. */
  status: fact('integer', ({ settled }) => settled.status, 'repeated'),
  error_type: fact('text', ({ settled, redact }) => errorType(settled, redact)),
  error_fingerprint: fact('text', ({ row }) => row.error_fingerprint, 'exact', 'remembered'),
  upstream: fact('text', ({ settled }) => settled.upstream, 'exact', 'repeated'),
  /** Host that answered, or was asked last. */
  server_address: fact('text', ({ settled }) => settled.attempts.at(-1)?.address ?? null, 'exact', 'repeated'),
  /** How many upstreams were tried. */
  attempts: fact('integer', ({ settled }) => settled.attempts.length, 'repeated'),
  upstream_request_id: fact('text', ({ settled, redact }) => shortOrNull(settled.upstream_request_id, redact)),
  /** Another attempt of a request that the session knows. */
  retry: fact('boolean', ({ row }) => row.retry, 'remembered'),
  /** `warmup`: it asked for no output; `not_run`: its provider did not run it; `retrieval`: it brought the usage of an earlier request. Rules count none of them. */
  uncounted: fact('text', ({ row }) => row.uncounted ?? null, 'exact', 'repeated', 'remembered'),
  /** Identical blocked requests that came after this one; the last of them stands in the next two columns. */
  retries: fact('integer', () => 0, 'remembered'),
  last_at: fact('integer', (): number | null => null, 'remembered'),
  last_request_id: fact('text', (): string | null => null, 'exact'),
  received_at: fact('integer', ({ call }) => call.at),
  forwarded_at: fact('integer', ({ settled }) => settled.forwarded_at),
  first_byte_at: fact('integer', ({ settled }) => settled.first_byte_at),
  ended_at: fact('integer', ({ settled }) => settled.ended_at, 'remembered'),
  bytes_in: fact('integer', ({ call }) => call.body.length),
  bytes_out: fact('integer', ({ settled }) => settled.bytes_out),
  input_tokens: fact('integer', ({ usage }) => usage.input_tokens),
  cache_read_tokens: fact('integer', ({ usage }) => usage.cache_read_tokens, 'remembered'),
  cache_write_tokens: fact('integer', ({ usage }) => usage.cache_write_tokens),
  cache_write_5m_tokens: fact('integer', ({ usage }) => usage.cache_write_5m_tokens),
  cache_write_1h_tokens: fact('integer', ({ usage }) => usage.cache_write_1h_tokens),
  output_tokens: fact('integer', ({ usage }) => usage.output_tokens),
  reasoning_tokens: fact('integer', ({ usage }) => usage.reasoning_tokens),
  total_tokens: fact('integer', ({ usage }) => usage.total_tokens, 'remembered'),
  usage_source: fact('text', ({ settled }) => settled.usage_source, 'exact', 'repeated'),
  finish_reason: fact('text', ({ settled, redact }) => shortOrNull(settled.reading.finish_reason, redact), 'repeated'),
  /** As the provider calls it; null if the reply did not say. So is the place. */
  service_tier: fact(
    'text',
    ({ settled, redact }) => shortOrNull(settled.reading.service_tier ?? null, redact),
    'repeated',
  ),
  inference_geo: fact(
    'text',
    ({ settled, redact }) => shortOrNull(settled.reading.inference_geo ?? null, redact),
    'repeated',
  ),
  /** By which a later request may go on from the reply; null where its style knows no such thing. */
  response_id: fact('text', (source) => (source.continues ? replyId(source) : null), 'remembered'),
  /** The reply's id in any other style. */
  reply_id: fact('text', (source) => (source.continues ? null : replyId(source))),
  fingerprint: fact('text', ({ call }) => call.conversation.fingerprint, 'exact', 'remembered'),
  chain_tip: fact('text', ({ row }) => row.chain_tip, 'exact', 'remembered'),
  talk_tip: fact('text', ({ row }) => row.talk_tip, 'exact', 'remembered'),
  items: fact('integer', ({ call }) => call.conversation.chain.length, 'remembered'),
  talk_items: fact('integer', ({ row }) => row.talk_items, 'remembered'),
  thread: fact('text', ({ row }) => row.thread, 'exact', 'remembered'),
  root: fact('boolean', ({ row }) => row.root, 'repeated', 'remembered'),
  parent: fact('text', ({ row }) => row.parent, 'exact', 'remembered'),
  keys: fact('json', ({ row }) => row.keys, 'exact', 'remembered'),
  /** Turns behind what the request goes on from, as `turnText` writes them; null: nobody looked. */
  turns: fact('text', ({ row, redact }) => turnsOrNull(row, redact), 'exact'),
  /** Calls of the reply that a later request may give results of without repeating them; null: none. */
  replied_calls: fact(
    'json',
    ({ settled, redact, continues }) => (continues ? repliedCalls(settled.reading, redact) : null),
    'exact',
  ),
  /** What detectors measured, by their ids; null: nothing. */
  measures: fact('json', ({ row }) => memberedOrNull(row.measures)),
  request_preview: fact('text', ({ previews }) => previews.request),
  response_preview: fact('text', ({ previews }) => previews.response),
  /** Where the call stands among traces; null where none are kept. */
  trace_id: fact('text', ({ call }) => call.trace?.trace_id ?? null, 'exact'),
  span_id: fact('text', ({ call }) => call.trace?.span_id ?? null, 'exact'),
  parent_span_id: fact('text', ({ call }) => call.trace?.parent_span_id ?? null, 'exact'),
  /** What the reply asked to call; null: nothing, or no traces are kept. */
  tool_calls: fact('json', ({ settled }) => unlessEmpty(settled.tool_calls ?? [])),
  /** Null: nobody knows prices. */
  cost_micro: fact('integer', ({ settled }) => settled.cost?.cost_micro ?? null),
  cost_source: fact('text', ({ settled }) => settled.cost?.cost_source ?? null, 'exact', 'repeated'),
  price_version: fact('text', ({ settled }) => settled.cost?.price_version ?? null, 'exact', 'repeated'),
}
