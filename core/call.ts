import type { Session } from './session.ts'
import type { Conversation } from './turns.ts'

/** `shadow` reports what a rule finds, `enforce` acts on it. */
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

/** What a request says beside its conversation. */
export interface Envelope {
  readonly model: string
  readonly stream: boolean
  readonly max_tokens: number | null
  /** As asked for; null if there is none, or none that is a number. */
  readonly temperature: number | null
  /** Parts that stand before those of the list: system prompt, instructions, an input that is plain text. */
  readonly before: readonly Part[]
  /** Parts that stand after those of the list: a body-level tool call. */
  readonly after: readonly Part[]
  readonly tools: unknown
  readonly tool_choice: unknown
  /** What it asks for if not for an answer: `compact`. */
  readonly task?: string
  readonly previous_response_id: string | null
  readonly conversation: string | null
  /** Whether the provider is to keep the reply; absent: as it does by itself. */
  readonly store?: boolean
  /** Objects of the provider's account that members beside the list name; the reader of requests adds them. */
  readonly objects?: readonly ProviderObject[]
  /** Session ids found in the body, by source, for the sessions plugin: `metadata.user_id`, `prompt_cache_key`, `conversation`, `client_metadata.session_id` and `.thread_id`. */
  readonly hints: Readonly<Record<string, string>>
}

/** A piece of a conversation as its style tells it: raw text and values, neither normalised nor hashed. */
export type Part =
  | {
      readonly kind: 'system' | 'user' | 'beside' | 'text'
      readonly text: string
      readonly blocks?: readonly unknown[]
    }
  | { readonly kind: 'call'; readonly tool: string; readonly args: unknown; readonly id?: string }
  | {
      readonly kind: 'result'
      readonly id?: string
      readonly text: string
      readonly blocks?: readonly unknown[]
      /** Whether the dialect itself says that the tool failed, or did not; absent where it says neither. */
      readonly error?: boolean
      /** It stands beside its call: the tool ran at the provider, and the reply may go on behind it. */
      readonly served?: true
    }

/** Where a call stands among traces: W3C hex ids. */
export interface CallTrace {
  readonly trace_id: string
  readonly span_id: string
  /** The caller's span; null below the root. */
  readonly parent_span_id: string | null
}

/** One try at one upstream. */
export interface Attempt {
  readonly upstream: string
  /** Host it was asked at; absent where no host is asked. */
  readonly address?: string
  /** Null if nothing was answered. */
  readonly status: number | null
  readonly error: string | null
}

/** Something that a provider keeps in its account: a response, a conversation, a file. */
export interface ProviderObject {
  /** `response`, `conversation`, `file` and the like. */
  readonly kind: string
  readonly id: string
}

/** What admission read of a request: later hooks take it from here, and derive none of it anew. Frozen. */
export interface Admission {
  /** Canonical and decoded: ids in it read as they are compared. */
  readonly path: string
  /** The project that its key or its header names; null: that of its agent, or `default`. */
  readonly project_id: string | null
  /** The session that its headers name; null: it is found from its body or its key. */
  readonly session: string | null
  /** Objects of the provider's account that it names, those of its path first. */
  readonly objects: readonly ProviderObject[]
}

/** Who sent a request, found from its key. */
export interface Identity {
  readonly agent_id: string | null
  readonly key_id: string | null
  /** What the key is for, and the projects it is bound to; absent: model requests, MCP and ingest, all projects. */
  readonly scopes?: ReadonlySet<string>
  readonly projects?: readonly string[] | null
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
  /** Names in lower case; nothing in it is a credential, or the length of the body. */
  readonly headers: Readonly<Record<string, string>>
  /** Name, value, name, value … as they came, without credentials and the length of the body. */
  readonly raw_headers: readonly string[]
  /** The user agent, at most 200 characters. */
  readonly client: string
  readonly identity: Identity
  /** Absent where the gateway itself made the call. */
  readonly admission?: Admission
  /**
   * The request's bytes as they came. Their memory may be freed once the call is settled, and the buffer is empty then: who reads them later,
   * or writes them anywhere without waiting for it, copies them.
   */
  readonly body: Buffer
  readonly envelope: Envelope
  /** Once the call is settled it is empty but for its fingerprint and its size: who needs more of it later takes it before. */
  conversation: Conversation
  /** The request came as a frame of a WebSocket, in the lane of this name if it named one; absent: as an HTTP request. */
  readonly transport?: 'websocket'
  readonly stream_id?: string
  /** No rule judges it: it asks for no output, or brings the usage of an earlier request of its session. */
  readonly uncounted?: 'warmup' | 'retrieval'
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
  /** Where it stands among traces; absent where none are kept. */
  trace?: CallTrace
  /** What is forwarded instead of `body`: the same with one more message. Set by a rule that steers. */
  steered_body?: Buffer
  /** Facts for the decision event, for example `agent_header_ignored`. */
  notes: Record<string, unknown>
}
