import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ApiStyle, type Call, type GuardError, Kind, type ProxyRequest } from 'guard-gateway/core'

/** A model request in flight. */
export interface InFlightClient {
  /** What it asked for, once that is read. */
  readonly call: Call | undefined
  /** The status that was sent; 0 before that. */
  readonly status: number
  /** Bytes of the reply handed over. */
  readonly bytes: number
  /** Its index among the requests in flight. */
  index: number
  /** Bytes of its body that count as held. */
  held: number
  /** Ends the exchange from our side; it is recorded as interrupted. */
  interrupt(): void
}

/** A message that is a model request of its own. */
export interface SocketCall {
  readonly style: ApiStyle
  readonly body: Buffer
  /** What the call has besides. */
  readonly more: Partial<Pick<Call, 'stream_id' | 'uncounted' | 'mode_override'>>
}

/** A handshake for a WebSocket that was admitted. */
export interface SocketUpgrade {
  /** `guardreq_…` */
  readonly id: string
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What has come after the handshake already. */
  readonly head: Buffer
  /** The handshake as a request that goes up, without credentials. */
  readonly proxied: ProxyRequest
  /** The client's own credentials, in the same form; no key of the gateway. */
  readonly login: readonly string[]
  /** Answers with an error of ours and ends the connection. */
  refuse(error: GuardError): void
  /** Answers as an upstream did and ends the connection. */
  respond(status: number, headers: readonly string[], body: Buffer): void
  /** 101 is about to be answered: from now on neither of the two above does anything. */
  accepted(): void
  /** The gateway drains: no new work begins. */
  readonly draining: boolean
  /**
   * Counts a request as in flight; `end` follows in any case. Its key is looked at again: throws or rejects with UNAUTHORIZED where it was
   * revoked, OVERLOADED, SHUTTING_DOWN.
   */
  begin(client: InFlightClient, bytes: number): void | Promise<void>
  /** Counts one that is under way already, whatever may be said against it. */
  beginUnasked(client: InFlightClient): void
  end(client: InFlightClient): void
  /** Makes the call of a message, in the name of the handshake. Throws INVALID_BODY, INVALID_HEADER, PROJECT_NOT_ALLOWED. */
  callOf(message: SocketCall): Call | Promise<Call>
  /** The status that this client is told instead of a block's. */
  blockStatus(status: number): number
}

/** What serves WebSockets at some paths. */
export interface SocketRoute {
  readonly id: string
  /** Canonical paths. */
  readonly paths: readonly string[]
  /** Takes a handshake over; what it throws before it has answered is answered. */
  open(upgrade: SocketUpgrade): void | Promise<void>
}

export const socketRouteKind = new Kind<SocketRoute>('socket route', { paths: 'list', open: 'function' })
