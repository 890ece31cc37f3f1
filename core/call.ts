import type { Envelope } from './contracts/api-style.ts'

export type Mode = 'shadow' | 'enforce'

/** How a guarded request ended. */
export type Outcome =
  | 'ok'
  | 'upstream_error'
  | 'unreachable'
  | 'truncated'
  | 'client_aborted'
  | 'interrupted'
  | 'blocked'

/** A tool call of the history as rules see it: hashes, names and flags, no text. */
export interface ToolCall {
  /** SHA-256 of name and canonical arguments, hex. */
  readonly key: string
  readonly tool: string
  readonly id: string | null
  /** SHA-256 of the normalised result; null if there is none or it is empty. */
  readonly result: string | null
  readonly error: boolean
}

/** One assistant turn of a request's history. */
export interface Turn {
  /** Distinct by key, sorted by key. */
  readonly calls: readonly ToolCall[]
  /** Position among the items of the conversation. */
  readonly item: number
  /** A user message follows this turn before the next one. */
  readonly user_after: boolean
}

/** What the rules need to know of a request's history: hashes by position, no text. */
export interface Conversation {
  /** Chain hash after each item: `chain[i]` covers items 0 to i. */
  readonly chain: readonly string[]
  /** The same with system items left out. */
  readonly talk: readonly string[]
  readonly turns: readonly Turn[]
  /** Positions of `beside` items that hold text outside reminders. */
  readonly besides: readonly number[]
  /** SHA-256 of model, tools, tool choice, stateful ids and every item, hex. */
  readonly fingerprint: string
  /** SHA-256 of the masked system text and of the first user text: what an unnamed session is known by. */
  readonly opening: string
  /** UTF-8 bytes of all text, arguments and results. */
  readonly text_bytes: number
  /** Results whose calls are not in the body, in order: stateful requests send these. */
  readonly loose_results: readonly { readonly id: string; readonly result: string | null; readonly error: boolean }[]
}

/** Who sent a request, found from its key. */
export interface Identity {
  readonly agent_id: string | null
  readonly key_id: string | null
}

/** The live state of a session that everything in this process shares; `row` is what storage holds. */
export interface Session {
  row: SessionRow
  /** Requests under way. */
  open: number
  /** Tips of the newest request of each thread: what a resume marks as seen. There once detection knows the session's history. */
  tips?: () => readonly string[]
  /** Tells detection of a resume: loop windows and the error streak begin anew. */
  cleared?: () => void
}

/** A session as stored and as the administration API shows it. Times are milliseconds since 1970. */
export interface SessionRow {
  id: string
  project_id: string
  agent_id: string | null
  external_id: string | null
  external_source: string
  name: string | null
  metadata: Readonly<Record<string, unknown>>
  client: string
  paused: boolean
  paused_at: number | null
  pause_reason: string | null
  /** Rows up to this time do not count for loop rules. */
  resumed_at: number | null
  /** Chain tips of what a resume marked as seen. */
  seen_tips: readonly string[]
  requests: number
  flagged: number
  blocked: number
  errors: number
  input_tokens: number
  output_tokens: number
  total_tokens: number
  created_at: number
  last_seen_at: number
}

/** One guarded model request on its way. What the `request` hook fills in is not readonly. */
export interface Call {
  /** `guardreq_…` */
  readonly id: string
  /** Arrival, milliseconds since 1970. */
  readonly at: number
  /** Arrival on the monotonic clock, milliseconds. */
  readonly tick: number
  readonly style: string
  /** Canonical path at the upstream. */
  readonly path: string
  /** With its question mark, or empty. */
  readonly query: string
  /** Names in lower case; nothing in it is a credential. */
  readonly headers: Readonly<Record<string, string>>
  /** Name, value, name, value … as they came, without credentials. */
  readonly raw_headers: readonly string[]
  /** The user agent, at most 200 characters. */
  readonly client: string
  readonly identity: Identity
  /** The request's bytes as they came. */
  readonly body: Buffer
  readonly envelope: Envelope
  readonly conversation: Conversation
  /** The client says that this is another attempt of a request it sent before. */
  readonly retry_mark: boolean
  /** Mode asked for by header, where the configuration honours it. */
  readonly mode_override: Mode | null
  project_id: string
  agent_id: string | null
  mode: Mode
  /** Name of the upstream that will serve the call; null until one is chosen. */
  upstream: string | null
  session: Session | null
  /** Facts for the decision event, for example `agent_header_ignored`. */
  notes: Record<string, unknown>
}

/** Why a rule spoke. */
export interface Finding {
  readonly message: string
  readonly evidence: 'session' | 'history' | 'outcomes' | 'budget'
  readonly count?: number
  readonly tool?: string
  /** Call key. */
  readonly key?: string
  /** Request ids for session evidence, turns counted from the end for history evidence; at most 16. */
  readonly where?: readonly ({ readonly request: string } | { readonly turn: number })[]
  /** Whether the repeated calls had equal results; null if unknown. */
  readonly results_equal?: boolean | null
  /** The call passes although the rule matched: it probes whether the upstream works again. */
  readonly probe?: boolean
}

/** A rule that matched, with its evidence. */
export interface Match extends Finding {
  readonly rule_id: string
  readonly rule_type: string
  readonly code: string
  readonly action: string
  readonly threshold: number
  readonly window_size: number
}

/** What was decided about a call. */
export interface Decision {
  readonly decision: 'allow' | 'shadow_flag' | 'block'
  /** HTTP status of a block. */
  readonly status?: 409 | 429
  readonly reason: string | null
  readonly rule_id: string | null
  readonly message: string
  readonly matches: readonly Match[]
  readonly policy_version: string
  readonly probe: boolean
  /** Rules whose detector failed. */
  readonly faults: readonly string[]
  /** Id of the blocked request that this block repeats; the earlier record then counts it. */
  readonly repeats: string | null
  /** What detection remembers of the request; null when nothing was evaluated. */
  readonly row: Row | null
}

/** What a session remembers of one request: hashes, counts and outcomes, no text. Stored in the `calls` table. */
export interface Row {
  readonly id: string
  readonly at: number
  ended_at: number | null
  readonly fingerprint: string
  readonly chain_tip: string
  readonly talk_tip: string
  /** Item count, and item count without system items. */
  readonly items: number
  readonly talk_items: number
  /** Id of the request that began the thread. */
  readonly thread: string
  /** Not an extension of anything known. */
  readonly root: boolean
  /** Call keys that count for this request. */
  readonly keys: readonly string[]
  /** Turns that the extended row did not hold. */
  readonly new_turns: readonly Turn[]
  readonly decision: Decision['decision']
  readonly reason: string | null
  readonly rule_id: string | null
  /** The loop findings, for a later attempt of the same request. */
  readonly matches: readonly Match[]
  readonly retry: boolean
  readonly probe: boolean
  /** Identical blocked requests that came after it. */
  retries: number
  outcome: Outcome | null
  error_fingerprint: string | null
  response_id: string | null
  total_tokens: number
  /** Tokens held for it until it ends. */
  readonly reserved: number
}

/** Token counts of one reply; `input_tokens` is what was not cached. */
export interface Usage {
  readonly input_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly cache_write_5m_tokens: number
  readonly cache_write_1h_tokens: number
  readonly output_tokens: number
  /** Part of `output_tokens`. */
  readonly reasoning_tokens: number
  readonly total_tokens: number
}

/** What a meter read off a reply. */
export interface Reading {
  /** Null if the reply did not say. */
  readonly usage: Usage | null
  /** UTF-8 bytes of output text and tool arguments, for an estimate. */
  readonly output_bytes: number
  readonly model: string | null
  readonly response_id: string | null
  readonly finish_reason: string | null
  /** Call keys by call id, in order of appearance. */
  readonly calls: readonly { readonly id: string | null; readonly tool: string; readonly args: unknown }[]
  /** The provider's error, also one inside a stream that began with 200. */
  readonly error: { readonly type: string | null; readonly code: string | null; readonly message: string } | null
  /** The reply ended the way its dialect ends a reply. */
  readonly complete: boolean
}

/** A finished call: everything that is recorded about it. */
export interface Settled {
  readonly call: Call
  readonly decision: Decision
  readonly outcome: Outcome
  /** Status sent to the client; 0 if it left before there was one. */
  readonly status: number
  readonly reading: Reading
  readonly usage: Usage
  readonly usage_source: 'reported' | 'partial' | 'estimated' | 'none'
  readonly error: { readonly type: string | null; readonly code: string | null; readonly message: string } | null
  readonly upstream: string | null
  readonly attempts: readonly Attempt[]
  readonly upstream_request_id: string | null
  /** Milliseconds since 1970; null if it did not happen. */
  readonly forwarded_at: number | null
  readonly first_byte_at: number | null
  readonly ended_at: number
  readonly bytes_out: number
  /** First bytes of the reply, where previews are kept; else empty. */
  readonly head: Uint8Array
}

/** One try at one upstream. */
export interface Attempt {
  readonly upstream: string
  /** Null if nothing was answered. */
  readonly status: number | null
  readonly error: string | null
}
