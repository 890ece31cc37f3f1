import type { GuardError, ProxyRequest } from 'guard-gateway/core'
import type { UpstreamAddress } from '../upstream-client.ts'

declare module 'guard-gateway/core' {
  interface Services {
    /** Which upstreams speak WebSocket. */
    socketUpstreams: SocketUpstreams
  }
}

/** Chooses the upstream of a WebSocket, as the configuration stands now. */
export interface SocketUpstreams {
  /** For a handshake; undefined: clients of the style are to use HTTP. */
  choose(style: string, request: ProxyRequest): Promise<SocketUpstream | undefined>
}

/** An upstream as a WebSocket needs it. */
export interface SocketUpstream {
  readonly name: string
  readonly address: UpstreamAddress
  /** Silence while a response is under way, in milliseconds. */
  readonly idle_ms: number
  readonly on_disconnect: 'abort' | 'drain'
  /** Where a canonical path lies, with the query of the client. */
  path(path: string, query: string): string
  /**
   * Headers of the handshake, as plugins want them. `login`: the client's own credentials. Rejects with LOGIN_MISSING where one is needed,
   * and as a tap of `outbound` does.
   */
  requestHeaders(request: ProxyRequest, login: readonly string[]): Promise<readonly string[]>
  /** What of an answer's headers a client gets. */
  responseHeaders(raw: readonly string[]): string[]
  /** Throws NO_UPSTREAM for a model that belongs elsewhere. */
  checkModel(model: string): void
  /** The bytes to send for a request to a model. */
  bodyFor(bytes: Buffer, model: string): Buffer
  /** It has answered the handshake so. True: it takes no WebSocket at all, and is not chosen for a while. */
  refused(status: number, headers: readonly string[]): boolean
  /** The configuration still holds it, unchanged. */
  isCurrent(): boolean
  /** Why a handshake had no answer, as the client is told. */
  failure(error: NodeJS.ErrnoException): GuardError
}
