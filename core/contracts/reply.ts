import type { Readable } from 'node:stream'
import type { Admission, Attempt, Identity } from '../call.ts'

/** The client's side of an exchange: an HTTP response, or whoever runs a scripted request. */
export interface Client {
  /** The client has left or takes no more bytes. */
  readonly gone: boolean
  /** It is gone because the gateway itself ended the exchange, for example at shutdown. */
  readonly interrupted: boolean
  /** Status and headers (name, value, name, value …); called once, before any body byte. `flush`: send them at once, the body may take its time. */
  head(status: number, headers: readonly string[], flush: boolean): void
  /** False: full; wait for `onDrain`. */
  write(chunk: Uint8Array): boolean
  end(last?: Uint8Array): void
  /** Ends the connection so that the reply looks broken. */
  cut(): void
  /** One listener an exchange, called every time there is room again. */
  onDrain(listener: () => void): void
  /** Called at most once, at once if it is gone already. */
  onGone(listener: () => void): void
  /** The status this client is told instead of a block's 409 or 429. */
  blockStatus?(status: number): number
}

/** Hears a body: chunks, then `end` or `cut`, once. */
export interface BodyReader {
  data(chunk: Uint8Array): void
  end(): void
  /** It broke off. */
  cut(): void
}

/** A body that is handed to its one reader as it comes; leaner than a stream. */
export interface PushedBody {
  /** Begins; called once. What has come already is told at once. */
  read(reader: BodyReader): void
  /** Holds the sender back; what is on its way already may still be told. */
  pause(): void
  resume(): void
  /** Gives the body up: nothing more is told. */
  destroy(): void
}

/** A body as a stream, as pieces, or whole. */
export type ReplyBody = Readable | PushedBody | Uint8Array

/** What answered a call, as it came. */
export interface Reply {
  readonly status: number
  /** Name, value, name, value …, ready for the client. */
  readonly headers: readonly string[]
  readonly body: ReplyBody
  readonly upstream: string
  readonly attempts: readonly Attempt[]
  readonly upstream_request_id: string | null
  /** `drain`: read on when the client has left. */
  readonly on_disconnect: 'abort' | 'drain'
  /** What the client is shown of the body, where that is not all of it; the meter sees everything. */
  readonly filter?: ReplyFilter
}

/** Leaves parts of a reply out on their way to the client. */
export interface ReplyFilter {
  /** What to write for this chunk; may be empty. */
  push(chunk: Uint8Array): Uint8Array
  /** What was held back when the body ended. */
  end(): Uint8Array
}

/** An unguarded request on its way to an upstream: a token count, a model list, a path that is passed through. */
export interface ProxyRequest {
  /** `guardreq_…` */
  readonly id: string
  readonly method: string
  /** Canonical path at the upstream. */
  readonly path: string
  /** With its question mark, or empty. */
  readonly query: string
  /** Ids of the styles of which an upstream must serve one. */
  readonly styles: readonly string[]
  /** The requested model; null if the request names none. */
  readonly model: string | null
  /** Names in lower case; nothing in it is a credential, or the length of the body. */
  readonly headers: Readonly<Record<string, string>>
  /** Name, value, name, value … as they came, without credentials and the length of the body. */
  readonly raw_headers: readonly string[]
  readonly identity: Identity
  readonly admission: Admission
  readonly body: Buffer | undefined
  /** Name of the upstream that has to answer; absent: the first that serves style and model. */
  upstream?: string
  /** The session that it belongs to, where the request itself names none. */
  session_id?: string
  /** Hears the body of the reply as it passes, which ends once `end` has resolved. */
  tap?: (reply: Reply) => { push(chunk: Uint8Array): void; end(): Promise<void> }
}

/** Headers on their way. Those that frame a message (`content-length`, `transfer-encoding`, `connection`, `host` …) are read only. */
export interface MessageHead {
  /** Name, value, name, value …, as they are sent. */
  readonly headers: readonly string[]
  /** The first value of a name in any case. */
  get(name: string): string | undefined
  /** In place of all of this name. Throws TypeError for what HTTP forbids, for a header that is read only, and once the head is sent; so do the others. */
  set(name: string, value: string): void
  append(name: string, value: string): void
  remove(name: string): void
}

/** The head of one try at one upstream. */
export interface OutboundHead extends MessageHead {
  readonly upstream: string
  readonly method: string
  /** Absolute, with its query, as it is asked for. */
  readonly url: string
  /** The bytes that are sent, to be read; undefined: none. */
  readonly body: Uint8Array | undefined
}

/** The head of what a client is answered. */
export type ReplyHead = MessageHead & { readonly status: number }

/** Who listens to a reply: pieces of its text in order, and a gap where anything else stands between. */
export interface Listener {
  text(piece: string): void
  gap(): void
}

/** Listens to one reply; `over` asks that it end here, which only a stream can. */
export interface ReplyListener extends Listener {
  readonly over: boolean
}
