import type { Duplex } from 'node:stream'
import { type Gateway, GuardError } from 'guard-gateway/core'
import type { SocketUpgrade } from '#lib/http'
import {
  type DialRefusal,
  type OpenedSocket,
  type SocketUpstream,
  type UpstreamSocket,
  upstreamSocketKind,
} from '#lib/upstream-client'
import { SocketConnection } from './connection.ts'
import { socketErrors } from './error-codes.ts'
import type { OpenConnections } from './open-connections.ts'
import type { ResponseForwards } from './response-forwards.ts'

/** Upstreams may send longer messages than clients. */
const MAX_UPSTREAM_BYTES = 128 * 1024 * 1024

/** What handshakes need of their gateway. */
export interface HandshakeContext {
  readonly gateway: Gateway
  readonly connections: OpenConnections
  readonly forwards: ResponseForwards
  /** Connections there may be. */
  readonly most: number
  /** The longest message of a client, in bytes. */
  readonly max_bytes: number
  /** How long an upstream may take to answer, in milliseconds. */
  readonly handshake_ms: number
  /** A client was refused, with this status. */
  readonly refused: (status: number) => void
}

/** Dials the upstream first and answers its client after, so that a refusal stays one. Throws what the client is to be told. */
export const shakeHands = async (context: HandshakeContext, upgrade: SocketUpgrade): Promise<void> => {
  const { gateway, connections, most } = context
  if (connections.size >= most)
    throw new GuardError('OVERLOADED', `${most} WebSockets are open, which is server.websocket_connections.`, {
      headers: { 'retry-after': '1' },
    })
  const chosen = await gateway.service('socketUpstreams').get()?.choose('responses', upgrade.proxied)
  const [sockets] = gateway.registry(upstreamSocketKind)
  if (chosen === undefined || sockets === undefined) throw new GuardError(socketErrors.HTTP_ONLY)
  connections.dialling++
  const waiting = new WaitingClient(upgrade.socket, upgrade.head)
  try {
    const dialled = await dial({ sockets, chosen, upgrade, signal: waiting.signal, handshake_ms: context.handshake_ms })
    const head = waiting.stop()
    if (dialled.socket === undefined) refuse(context, upgrade, chosen, dialled)
    else await accept(context, { ...dialled, head, chosen, sockets, upgrade })
  } finally {
    waiting.stop()
    connections.dialling--
  }
}

interface DialOptions {
  readonly sockets: UpstreamSocket
  readonly chosen: SocketUpstream
  readonly upgrade: SocketUpgrade
  readonly signal: AbortSignal
  readonly handshake_ms: number
}

const dial = async (options: DialOptions): Promise<OpenedSocket | DialRefusal> => {
  const { sockets, chosen, upgrade, signal, handshake_ms } = options
  const { request, proxied, login } = upgrade
  const headers = await chosen.requestHeaders(proxied, login)
  try {
    return await sockets.dial(
      {
        address: chosen.address,
        path: chosen.path(proxied.path, proxied.query),
        headers,
        compress: request.headers['sec-websocket-extensions']?.includes('permessage-deflate') === true,
        max_bytes: MAX_UPSTREAM_BYTES,
        handshake_ms,
      },
      signal,
    )
  } catch (error) {
    throw chosen.failure(error as NodeJS.ErrnoException)
  }
}

const refuse = (
  { refused }: HandshakeContext,
  upgrade: SocketUpgrade,
  chosen: SocketUpstream,
  { status, headers, body }: DialRefusal,
): void => {
  if (chosen.refused(status, headers)) throw new GuardError(socketErrors.HTTP_ONLY)
  refused(status)
  upgrade.respond(status, chosen.responseHeaders(headers), body)
}

/** Both ends of a connection to be. */
interface Ends extends OpenedSocket {
  readonly upgrade: SocketUpgrade
  readonly chosen: SocketUpstream
  readonly sockets: UpstreamSocket
  /** What the client has sent already. */
  readonly head: Buffer
}

const accept = async (context: HandshakeContext, ends: Ends): Promise<void> => {
  const { gateway, connections, forwards, max_bytes } = context
  const { upgrade, chosen, sockets, head, socket: upstream, headers } = ends
  if (upgrade.draining) {
    upstream.close()
    throw new GuardError('SHUTTING_DOWN', undefined, { headers: { 'retry-after': '1' } })
  }
  const { request, socket, id } = upgrade
  const replyHeaders = [...chosen.responseHeaders(headers), 'x-guard-request-id', id]
  upgrade.accepted()
  const client = await sockets.accept({ request, socket, head, headers: replyHeaders, max_bytes })
  if (client === undefined) return upstream.destroy()
  forwards.tap(gateway)
  const over = (connection: SocketConnection): void => connections.remove(connection)
  const connection = new SocketConnection({ gateway, upgrade, chosen, client, upstream, forwards, over })
  connections.add(connection)
  connection.start()
}

const NOTHING = Buffer.alloc(0)

/** A client that waits for the answer to its handshake: whether it leaves meanwhile shows only while its connection is read. */
class WaitingClient {
  readonly #socket: Duplex
  readonly #left = new AbortController()
  readonly #early: Buffer[] = []
  #isStopped = false
  readonly #read = (bytes: Buffer): void => void this.#early.push(bytes)
  readonly #leave = (): void => {
    this.#left.abort(new Error('the client has left'))
    this.#socket.destroy()
  }

  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket
    if (head.length > 0) this.#early.push(head)
    socket.on('data', this.#read).once('end', this.#leave).once('close', this.#leave)
  }

  /** Aborted when it leaves. */
  get signal(): AbortSignal {
    return this.#left.signal
  }

  /** Reads no more; gives what has come already, once. */
  stop(): Buffer {
    if (this.#isStopped) return NOTHING
    this.#isStopped = true
    this.#socket.pause()
    this.#socket.off('data', this.#read).off('end', this.#leave).off('close', this.#leave)
    return Buffer.concat(this.#early)
  }
}
