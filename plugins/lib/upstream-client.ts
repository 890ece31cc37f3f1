import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { contribution, type GuardError, Kind, type ProxyRequest, type ReplyBody } from 'guard-gateway/core'

/** A proxy on the way to an upstream. It is asked for a tunnel by CONNECT to an upstream behind TLS, and for the whole URL otherwise. */
export interface ProxyAddress {
  /** TLS to the proxy itself. */
  readonly secure: boolean
  /** A name or an IP address, the latter without brackets. */
  readonly hostname: string
  readonly port: number
  /** Value of `proxy-authorization`, which goes to the proxy and nowhere else. */
  readonly authorization?: string
  /** How people read of it: `http://proxy.example:3128`, without user and password. */
  readonly label: string
}

/** Where the connections of one upstream lead, and how long they may take. */
export interface UpstreamAddress {
  /** TLS, with the certificate checked. */
  readonly secure: boolean
  /** A name or an IP address, the latter without brackets. */
  readonly hostname: string
  readonly port: number
  /** On the way; absent: none. */
  readonly proxy?: ProxyAddress
  /** Authorities that are trusted beside those of Node, as PEM; for the proxy, too. */
  readonly ca?: readonly string[]
  /** TCP, proxy and TLS together, in milliseconds. */
  readonly connect_ms: number
  /** Silence between two chunks of a reply, in milliseconds; time in which the reader holds a reply back does not count. */
  readonly idle_ms: number
}

/** One request, ready to be sent. */
export interface UpstreamRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Name, value, name, value … in the order and spelling they are sent in; `host`, and the length of a body, among them. */
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
}

/** What an upstream answered: the final status, never one below 200. */
export interface UpstreamResponse {
  readonly status: number
  /** Name, value, name, value … as they came. */
  readonly headers: readonly string[]
  readonly body: ReplyBody
}

/** Hears what becomes of a request: `answered` or `failed`, and after either of them `over`, each once and never before `send` has returned. */
export interface UpstreamListener {
  answered(response: UpstreamResponse): void
  /** No answer came; the error's `code` tells why in the names of Node: ECONNREFUSED, ECONNRESET, HPE_…; CONNECT_TIMEOUT for a connection not made in time; PROXY_… for what a proxy did, with the proxy in the message. */
  failed(error: NodeJS.ErrnoException): void
  /** The connection has no more to do with this request. */
  over(): void
  /**
   * The request's body is not read any more: all of it went out, or what did not never will. Told once or not at all; its memory may be
   * freed thereupon, so never while a socket may still write from it.
   */
  sent?(): void
}

/** A request under way. */
export interface Exchange {
  /** Ends it: without an answer so far it has failed with this reason, else the body is cut. Nothing happens if it is over. */
  stop(reason: Error): void
}

/** The connections to one address, kept from request to request. */
export interface Connections {
  /** Sends a request within this turn of the event loop; nothing is sent twice and no redirect followed. Throws TypeError, and sends nothing, for a byte that HTTP forbids. */
  send(request: UpstreamRequest, listener: UpstreamListener): Exchange
  /** Closes what is idle now, and the rest when its replies have ended. */
  retire(): void
  /** Ends everything at once. */
  close(): void
}

/** A way to speak HTTP to upstreams. */
export interface UpstreamClient {
  readonly id: string
  connect(address: UpstreamAddress): Connections
}

export const upstreamClientKind = new Kind<UpstreamClient>('upstream client', { connect: 'prompt' })

/** What speaks to upstreams; `client` of an upstream chooses it. */
export const upstreamClient = contribution('upstream-client', upstreamClientKind)

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
