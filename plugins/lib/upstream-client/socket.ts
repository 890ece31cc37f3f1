import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { contribution, Kind } from 'guard-gateway/core'
import type { UpstreamAddress } from '../upstream-client.ts'

/** A handshake to send. */
export interface DialRequest {
  readonly address: UpstreamAddress
  /** With its query. */
  readonly path: string
  /** Name, value, name, value … in the order and spelling they are sent in; `host` among them, and none of those that a handshake consists of. */
  readonly headers: readonly string[]
  /** Offer compression of messages, each by itself. */
  readonly compress: boolean
  /** The longest message that is taken, inflated, in bytes. */
  readonly max_bytes: number
  /** From the beginning to the answer, in milliseconds. */
  readonly handshake_ms: number
}

/** The other side has taken the handshake. */
export interface OpenedSocket {
  readonly socket: MessageSocket
  /** Of the 101: name, value, name, value … as they came. */
  readonly headers: readonly string[]
}

/** The other side has answered something else than 101. */
export interface DialRefusal {
  readonly socket?: undefined
  readonly status: number
  readonly headers: readonly string[]
  /** At most the first MiB. */
  readonly body: Buffer
}

/** A handshake that a client has sent. */
export interface AcceptRequest {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What has come after the handshake already. */
  readonly head: Buffer
  /** Further headers of the 101: name, value, name, value … */
  readonly headers: readonly string[]
  readonly max_bytes: number
}

/** One end of a WebSocket. Pings are answered by itself; so are breaches of the protocol: closed with 1002, 1007 or 1009. */
export interface MessageSocket {
  /** Begins to read; called once, nothing is told before. */
  listen(listener: SocketListener): void
  /** Sends a message, as text unless told otherwise; lost without a word where the socket is closed. */
  send(message: Uint8Array, isText?: boolean): void
  /** Bytes that the system has not taken yet. */
  readonly waiting: number
  /** Bytes that have come, pings and pongs among them. */
  readonly received: number
  pause(): void
  resume(): void
  ping(): void
  /** Sends a close frame, without a code if none is given. The connection is destroyed 2 s later where the other side does not answer. */
  close(code?: number, reason?: Uint8Array): void
  /** Ends the connection without a close frame. */
  destroy(): void
  /** The connection is destroyed after so long without a byte taken or come, in milliseconds; 0: never. */
  limitStall(ms: number): void
}

/** Hears one end of a WebSocket. */
export interface SocketListener {
  message(bytes: Buffer, isText: boolean): void
  /** A message has been taken by the system. */
  taken(): void
  /** Told once, last. 1005: closed without a code; 1006: without a close frame, or by a breach of the protocol. */
  closed(code: number, reason: Buffer): void
}

/** What speaks WebSocket, to upstreams and to clients. */
export interface UpstreamSocket {
  readonly id: string
  /** Follows no redirect. Rejects with an error whose `code` is as for an upstream client, or HANDSHAKE_TIMEOUT. `signal` gives the attempt up. */
  dial(request: DialRequest, signal: AbortSignal): Promise<OpenedSocket | DialRefusal>
  /** Answers 101 and gives this end; undefined where the client has left. No subprotocol is taken and nothing compressed. */
  accept(request: AcceptRequest): Promise<MessageSocket | undefined>
}

export const upstreamSocketKind = new Kind<UpstreamSocket>('upstream socket', { dial: 'function', accept: 'function' })

/** What speaks WebSocket; the first that is registered is used. */
export const upstreamSocket = contribution('upstream-socket', upstreamSocketKind)
