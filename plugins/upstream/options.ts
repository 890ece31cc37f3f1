import type { CircuitOptions } from './circuit.ts'
import type { KeyOrder } from './key-pool.ts'

/** How long one call to an upstream may take, in milliseconds. */
export interface Timeouts {
  /** TCP and TLS connection. */
  readonly connect_ms: number
  /** From sending to the first byte of the answer. */
  readonly headers_ms: number
  /** Silence between two chunks of a reply. */
  readonly idle_ms: number
  /** The whole call; 0: no limit. */
  readonly total_ms: number
}

/** How an upstream is shown its key; `auto`: as its style does; `passthrough`: the client's own login instead. */
export type Auth = 'auto' | 'bearer' | 'x-api-key' | 'api-key' | 'none' | 'passthrough'

/** One place that model requests can go to. */
export interface UpstreamOptions {
  /** Unique. */
  readonly name: string
  /** With or without a trailing `/v1`. */
  readonly base_url: string
  readonly api_key?: string
  /** Several keys, in place of `api_key`: a request whose key is refused (401, 402, 429) is sent with the next, and that key rests. */
  readonly api_keys?: readonly string[]
  /** Which key a request begins with: the first that does not rest, or each in its turn. */
  readonly key_order?: KeyOrder
  readonly auth?: Auth
  /** Ids of API styles. */
  readonly styles: readonly string[]
  /** The projects whose requests it gets; absent or empty: all. */
  readonly projects?: readonly string[]
  /** Globs; absent: every model. */
  readonly models?: readonly string[]
  /** Set on every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly timeouts?: Partial<Timeouts>
  /** Id of the upstream client; absent: the first that is registered. */
  readonly client?: string
  /** Address of the proxy on the way, with its login; `none` or absent: no proxy. The environment is ignored. */
  readonly proxy?: string
  /** Certificate authorities that are trusted in addition to those of Node: certificates as PEM. */
  readonly ca?: readonly string[]
  readonly inject_stream_usage?: boolean
  readonly on_disconnect?: 'abort' | 'drain'
  /** Whether WebSockets lead here; `auto`, or absent: where it is the only one of its style. */
  readonly websocket?: 'auto' | 'on' | 'off'
  /** Names of upstreams that are tried next when nothing was answered. */
  readonly fallback?: readonly string[]
  /** Statuses that lead to a fallback too, and keep requests from this upstream for as long as it says. */
  readonly fallback_on?: readonly number[]
  /** When it is not asked for a while. */
  readonly circuit?: Partial<CircuitOptions>
  /** Requested model to the one sent. */
  readonly model_map?: Readonly<Record<string, string>>
  /** Style, or `models` for the list of models, to the path after `base_url`. */
  readonly paths?: Readonly<Record<string, string>>
}
