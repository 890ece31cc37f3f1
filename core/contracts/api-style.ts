import type { ErrorBody } from '../errors.ts'
import type { Reading } from '../settled.ts'
import type { Speech } from './speech.ts'

/** One provider dialect: how to read its requests, meter its replies and speak our errors in it. */
export interface ApiStyle {
  readonly id: string
  /** Counted POST paths. */
  readonly paths: readonly string[]
  /** The top-level member that holds the conversation as an array, one message or item an element. */
  readonly list: string
  /** A request may name an earlier reply as its `previous_response_id`, so that replies have to be found by their ids. */
  readonly continues?: true
  /**
   * To `parts` only ASCII means anything: of other characters it looks at none and takes none apart, so that its strings may hold the bytes of UTF-8 instead, which is faster.
   * Of a long text that is no data URL it looks at no more than white space at its beginning and 32 characters behind, so that all else may stand elsewhere.
   */
  readonly bytewise?: true
  /** Reads everything but the elements of `list`; `members` holds the other top-level members, and `list` itself if it is no array. Pure: what it gives is frozen, and shared by requests whose members are equal. */
  envelope(members: Readonly<Record<string, unknown>>): Envelope
  /** Reads one element of `list`. Pure: the same element always gives equal parts. */
  parts(element: unknown): readonly Part[]
  meter(about: { readonly status: number; readonly stream: boolean }): Meter
  /** Understands the text of one reply; asked for only where somebody listens. Without it replies are not listened to. */
  speech?(): Speech
  /** A user message as an element of `list`. Without it requests are not steered. */
  nudge?(text: string): object
  /** One of our own errors in this dialect. */
  refusal(error: ErrorBody, requestId: string): object
}

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
  readonly previous_response_id: string | null
  readonly conversation: string | null
  /** Session ids found in the body, by source, for the sessions plugin: `metadata.user_id`, `prompt_cache_key`, `conversation`. */
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

/** Watches one reply as it passes; gets decoded copies, changes and keeps back nothing. */
export interface Meter {
  push(chunk: Uint8Array): void
  end(): Reading
}
