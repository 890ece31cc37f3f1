import type { Attempt, Call, Outcome } from './call.ts'
import type { Decision } from './decision.ts'
import type { Usage } from './usage.ts'

/** What a meter read off a reply. */
export interface Reading {
  /** Null if the reply did not say. */
  readonly usage: Usage | null
  /** UTF-8 bytes of output text and tool arguments, for an estimate. */
  readonly output_bytes: number
  readonly model: string | null
  readonly response_id: string | null
  readonly finish_reason: string | null
  /** The service tier and the place that answered, as the provider calls them; absent if it did not say. */
  readonly service_tier?: string | null
  readonly inference_geo?: string | null
  /** Call keys by call id, in order of appearance. */
  readonly calls: readonly { readonly id: string | null; readonly tool: string; readonly args: unknown }[]
  /** The provider's error, also one inside a stream that began with 200. */
  readonly error: { readonly type: string | null; readonly code: string | null; readonly message: string } | null
  /** It reasoned, and held neither a word nor a call. */
  readonly wordless?: true
  /** The reply ended the way its dialect ends a reply. */
  readonly complete: boolean
}

/** A tool call found in a reply, as recorded. */
export interface RepliedTool {
  readonly id: string | null
  readonly tool: string
  /** HMAC-SHA-256 of the arguments under the installation's key, hex. */
  readonly argument_hash: string
}

/** What a call cost, in millionths of the billing currency. */
export interface Cost {
  readonly cost_micro: number
  readonly cost_source: 'priced' | 'unpriced'
  /** First 12 hex digits of the price file's SHA-256; null without one. */
  readonly price_version: string | null
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
  /** Filled in by whoever knows prices, before the call is recorded. */
  cost?: Cost
  /** Filled in with it: the reply's tool calls as they are recorded. */
  tool_calls?: readonly RepliedTool[]
}

/** A call's record on its way into storage, and what commits with it. Whoever records merges its members in, as with `Tables`. */
export interface Recording {}

/** The record of a tool call that has ended, on its way into storage; its members are merged in likewise. */
export interface ToolRecording {}
