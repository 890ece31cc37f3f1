import type { Envelope, Part, ProviderObject } from '../call.ts'
import type { ErrorBody } from '../errors.ts'
import type { Reading } from '../settled.ts'
import type { Listener } from './reply.ts'

/** One provider dialect: how to read its requests, meter its replies and speak our errors in it. */
export interface ApiStyle {
  readonly id: string
  /** Counted POST paths. `{name}` in one stands for a piece of a segment, `{+name}` for segments. */
  readonly paths: readonly string[]
  /** What else passes, with key and pause checked, neither judged nor counted: `GET /api/tags`. */
  readonly unguarded?: readonly string[]
  /** Where clients show their key, and upstreams are shown theirs with `auth: auto`; without it `authorization` and its Bearer. `query`: a parameter that may stand for the header. */
  readonly credential?: { readonly header: string; readonly query?: string }
  /** Streams may be JSON as well as events: a value a line, or one array. */
  readonly json_stream?: true
  /** The top-level member that holds the conversation as an array, one message or item an element. */
  readonly list: string
  /** A request may name an earlier reply as its `previous_response_id`, so that replies have to be found by their ids. */
  readonly continues?: true
  /** Reads everything but the elements of `list`; `members` holds the other top-level members, and `list` itself if it is no array. Pure: what it gives is frozen, and shared by requests whose members and target are equal. `target`: the path as it came, and what its parameters stand for, percent-decoded. */
  envelope(
    members: Readonly<Record<string, unknown>>,
    target: { readonly path: string; readonly params: Readonly<Record<string, string>> },
  ): Envelope
  /** Reads one element of `list`. Pure: the same element always gives equal parts. */
  parts(element: unknown): readonly Part[]
  meter(about: ReplyAbout): Meter
  /** Lets a listener hear the text of one reply; called only where somebody listens. Without it replies are not listened to. `listenBy` of `guard-gateway/lib/api-style` makes it from a `Speech`. */
  listen?(request: ListenRequest): ListenedReply
  /** A user message as an element of `list`. Without it requests are not steered. */
  nudge?(text: string): object
  /** One of our own errors in this dialect, sent with this HTTP status. */
  refusal(error: ErrorBody, requestId: string, status: number): object
}

/** What is known of a reply before its first byte. */
export interface ReplyAbout {
  readonly status: number
  readonly stream: boolean
  /** Called for each object of the provider's account that the reply names, with the event that first names it. */
  readonly named?: (object: ProviderObject) => void
}

/** Watches one reply as it passes; gets decoded copies, changes and keeps back nothing. */
export interface Meter {
  push(chunk: Uint8Array): void
  end(): Reading
}

/** One reply that somebody listens to. */
export interface ListenRequest {
  /** Reads the reply in any case. */
  readonly meter: Meter
  readonly stream: boolean
  readonly listener: Listener
  /** Called once if the reply cannot be understood; its meter goes on. */
  readonly fault: (error: unknown) => void
}

/** A reply that is listened to. */
export interface ListenedReply {
  /** Takes the reply in place of the meter that was given. */
  readonly meter: Meter
  /** Events that end the stream after the last event read, as a reply ends that has used up its tokens; an empty text if it is over already. */
  ending(): string
  /** Each line of the stream is an event; else a blank line ends one. */
  readonly lines?: boolean
}
