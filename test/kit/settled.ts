import {
  type Call,
  type Chain,
  type Decision,
  type Match,
  noUsage,
  type Reading,
  type Row,
  type Session,
  type SessionRow,
  type Settled,
} from 'guard-gateway/core'
import { newSessionRow } from '#lib/session'

/** 2026-03-01T12:00:00Z, when everything in these examples happens unless told otherwise. */
export const NOON = Date.UTC(2026, 2, 1, 12)

export const aSessionRow = (over: Partial<SessionRow> = {}): SessionRow => ({
  ...newSessionRow('ses_a', {
    project_id: 'shop',
    agent_id: 'builder',
    external_id: 'window-1',
    external_source: 'x-guard-session-id',
    client: 'agent/1.0',
    at: NOON,
  }),
  requests: 1,
  ...over,
})

const aChain = (length: number, tip: string): Chain => ({
  length,
  tip,
  tipOf: (items) => (items === length ? tip : undefined),
  longestIn: (tips) => (tips.has(tip) ? length : 0),
})

export const aSession = (over: Partial<SessionRow> = {}): Session => ({ row: aSessionRow(over), open: 1 })

/** A Messages call whose body is the given value as JSON. */
export const aCall = (over: Partial<Call> = {}, body: unknown = { model: 'm-1', messages: [] }): Call => ({
  id: 'guardreq_1',
  at: NOON,
  // a monotonic clock that began at noon
  tick: (over.at ?? NOON) - NOON,
  style: 'messages',
  path: '/v1/messages',
  query: '',
  headers: {},
  raw_headers: [],
  client: 'agent/1.0',
  identity: { agent_id: 'builder', key_id: null },
  body: Buffer.from(JSON.stringify(body)),
  envelope: {
    model: 'm-1',
    stream: false,
    max_tokens: null,
    temperature: null,
    before: [],
    after: [],
    tools: undefined,
    tool_choice: undefined,
    previous_response_id: null,
    conversation: null,
    hints: {},
  },
  conversation: {
    chain: aChain(2, 'c2'),
    talk: aChain(1, 't1'),
    turns: [],
    systems: [],
    besides: [],
    fingerprint: 'f1',
    opening: 'o1',
    text_bytes: 40,
    loose_results: [],
  },
  retry_mark: false,
  mode_override: null,
  project_id: 'shop',
  agent_id: 'builder',
  mode: 'shadow',
  upstream: 'main',
  session: aSession(),
  notes: {},
  ...over,
})

export const aRow = (over: Partial<Row> = {}): Row => ({
  id: 'guardreq_1',
  at: NOON,
  ended_at: NOON + 900,
  fingerprint: 'f1',
  chain_tip: 'c2',
  talk_tip: 't1',
  items: 2,
  talk_items: 1,
  thread: 'guardreq_1',
  root: true,
  parent: null,
  keys: ['k1'],
  new_turns: [
    {
      calls: [
        { key: 'k1', tool: 'read_file', id: 'toolu_1', result: 'r1', error: false, passed: false, effect: 'look' },
      ],
      item: 1,
      user_after: false,
    },
  ],
  user_first: false,
  decision: 'allow',
  reason: null,
  rule_id: null,
  matches: [],
  retry: false,
  probe: false,
  uncounted: null,
  retries: 0,
  last_at: null,
  outcome: 'ok',
  error_fingerprint: null,
  response_id: 'msg_1',
  total_tokens: 30,
  cache_read_tokens: 0,
  cost_micro: 0,
  measures: {},
  reserved: 0,
  ...over,
})

/** `tool_repeat` has spoken. */
export const aMatch = (over: Partial<Match> = {}): Match => ({
  rule_id: 'tool_repeat',
  rule_type: 'tool_repeat',
  code: 'LOOP_TOOL_CALL',
  action: 'block',
  count: 3,
  threshold: 3,
  window_size: 8,
  evidence: 'history',
  tool: 'read_file',
  key: 'k1',
  where: [{ turn: -3 }, { turn: -2 }, { turn: -1 }],
  results_equal: true,
  message: 'read_file was called 3 times with the same arguments in the last 8 turns',
  ...over,
})

export const aDecision = (over: Partial<Decision> = {}): Decision => ({
  decision: 'allow',
  reason: null,
  rule_id: null,
  message: '',
  matches: [],
  policy_version: 'v7',
  probe: false,
  faults: [],
  repeats: null,
  row: aRow(),
  ...over,
})

export const aReading = (over: Partial<Reading> = {}): Reading => ({
  usage: null,
  output_bytes: 0,
  model: 'm-1-0301',
  response_id: 'msg_1',
  finish_reason: 'end_turn',
  calls: [],
  error: null,
  complete: true,
  ...over,
})

/** A call that was forwarded to upstream `main` and answered well after 900 ms. */
export const settled = (over: Partial<Settled> = {}): Settled => ({
  call: aCall(),
  decision: aDecision(),
  outcome: 'ok',
  status: 200,
  reading: aReading(),
  usage: { ...noUsage, input_tokens: 20, output_tokens: 10, total_tokens: 30 },
  usage_source: 'reported',
  error: null,
  upstream: 'main',
  attempts: [{ upstream: 'main', status: 200, error: null }],
  upstream_request_id: 'req_up',
  forwarded_at: NOON + 5,
  first_byte_at: NOON + 300,
  ended_at: NOON + 900,
  bytes_out: 512,
  head: new Uint8Array(0),
  ...over,
})

/** A call that `tool_repeat` blocked; `repeats` names the blocked call that it repeats. */
export const blocked = (call: Call, repeats: string | null = null): Settled =>
  settled({
    call,
    decision: aDecision({
      decision: 'block',
      status: 429,
      reason: 'LOOP_TOOL_CALL',
      rule_id: 'tool_repeat',
      matches: [aMatch()],
      repeats,
      row: aRow({ id: call.id, decision: 'block', reason: 'LOOP_TOOL_CALL', rule_id: 'tool_repeat' }),
    }),
    outcome: 'blocked',
    status: 429,
    reading: aReading({ model: null, response_id: null, finish_reason: null, complete: false }),
    usage: noUsage,
    usage_source: 'none',
    attempts: [],
    upstream_request_id: null,
    forwarded_at: null,
    first_byte_at: null,
  })
