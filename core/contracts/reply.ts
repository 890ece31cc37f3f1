import type { Readable } from 'node:stream'
import type { Attempt } from '../call.ts'

/** The client's side of an exchange: an HTTP response, or whoever runs a scripted request. */
export interface Client {
  /** The client has left or takes no more bytes. */
  readonly gone: boolean
  /** Status and headers (name, value, name, value …); called once, before any body byte. */
  head(status: number, headers: readonly string[]): void
  /** False: full; wait for `onDrain`. */
  write(chunk: Uint8Array): boolean
  end(last?: Uint8Array): void
  /** Ends the connection so that the reply looks broken. */
  cut(): void
  onDrain(listener: () => void): void
  onGone(listener: () => void): void
}

/** What answered a call, as it came. */
export interface Reply {
  readonly status: number
  /** Name, value, name, value …, ready for the client. */
  readonly headers: readonly string[]
  readonly body: Readable | Uint8Array
  readonly upstream: string
  readonly attempts: readonly Attempt[]
  readonly upstream_request_id: string | null
  /** `drain`: read on when the client has left. */
  readonly on_disconnect: 'abort' | 'drain'
}
