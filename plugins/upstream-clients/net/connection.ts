import type { Socket } from 'node:net'
import { isTunnelled } from 'guard-gateway/lib/network'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'
import { ConnectionClosed } from './errors.ts'
import { directSocket, type TlsState, tunnelSocket } from './open-socket.ts'
import type { EncodedRequest } from './request-encoder.ts'

const PROBE_MS = 30_000

/** Receives what happens on a connection while it serves one request. */
export interface ConnectionHandler {
  received(bytes: Buffer): void
  /** The socket no longer reads the request's body, if that was a buffer of its own. */
  sent(): void
  /** The other side sends no more. */
  ended(): void
  /** The connection broke. */
  failed(error: Error): void
  /** Nothing has arrived for `idle_ms`. */
  idle(): void
}

/** Keeps connections between requests. */
export interface ConnectionOwner extends TlsState {
  addIdle(connection: Connection, keep_alive_ms: number): void
  remove(connection: Connection): void
}

/** One connection, for as long as it lives. Bytes that arrive without a request end it. */
export class Connection {
  /** While a tunnel is made: the socket to its proxy. */
  #socket: Socket
  readonly #owner: ConnectionOwner
  #handler: ConnectionHandler | undefined
  /** The request that waits for the tunnel. */
  #pending: EncodedRequest | undefined
  #isOpening: boolean
  /** When it may not be used again, by the clock of `performance.now`. */
  expiresAt = 0

  constructor(address: UpstreamAddress, owner: ConnectionOwner) {
    this.#owner = owner
    this.#isOpening = isTunnelled(address)
    if (this.#isOpening) this.#socket = tunnelSocket(address, owner, (made) => this.#tunnelled(made, address.idle_ms))
    else {
      this.#socket = directSocket(address, owner, (bytes) => this.#received(bytes))
      this.#listen(address.idle_ms)
    }
  }

  /** False once either side has closed it. */
  get isUsable(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded
  }

  /** Sends a request in one write; the handler receives the response. */
  send(handler: ConnectionHandler, bytes: EncodedRequest): void {
    this.#handler = handler
    if (this.#isOpening) this.#pending = bytes
    else this.#write(handler, bytes)
  }

  #write(handler: ConnectionHandler, { head, body }: EncodedRequest): void {
    const socket = this.#socket
    socket.ref()
    if (body === undefined) return void socket.write(head)
    socket.cork()
    socket.write(head)
    socket.write(body, () => handler.sent())
    socket.uncork()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** The response is complete. 0 means that the connection cannot be used again; neither can one that is still sending. */
  release(keep_alive_ms: number): void {
    const socket = this.#socket
    if (keep_alive_ms <= 0 || !this.isUsable || socket.writableLength > 0) return void this.destroy()
    this.#handler = undefined
    // a paused socket would report neither the next response nor its own end
    if (socket.isPaused()) socket.resume()
    socket.unref()
    this.#owner.addIdle(this, keep_alive_ms)
  }

  /** Closes it; the handler receives nothing more. */
  destroy(): void {
    this.#handler = undefined
    this.#owner.remove(this)
    this.#socket.destroy()
  }

  /** Closes it; the handler receives the failure. */
  abort(): void {
    this.#socket.destroy()
  }

  #listen(idle_ms: number): void {
    const socket = this.#socket
    socket.setNoDelay(true).setKeepAlive(true, PROBE_MS).setTimeout(idle_ms)
    socket.on('end', () => this.#ended())
    socket.on('error', (error) => this.#failed(error))
    socket.on('close', () => this.#failed(new ConnectionClosed()))
    socket.on('timeout', () => {
      // it fires only once, and a paused body may be resumed later
      socket.setTimeout(idle_ms)
      if (socket.isPaused()) return
      const [handler, { bytesRead }] = [this.#handler, socket]
      // after a stop or a sleep of this process, timers run before what arrived meanwhile is read
      setImmediate(() => {
        if (handler === this.#handler && socket.bytesRead === bytesRead) handler?.idle()
      })
    })
  }

  #tunnelled(made: Socket | Error, idle_ms: number): void {
    this.#isOpening = false
    if (made instanceof Error) return void this.#failed(made)
    this.#socket = made
    this.#listen(idle_ms)
    made.on('data', (bytes: Buffer) => this.#received(bytes))
    const pending = this.#pending
    this.#pending = undefined
    // the request may have been stopped meanwhile
    if (this.#handler === undefined || pending === undefined) this.destroy()
    else this.#write(this.#handler, pending)
  }

  #received(bytes: Buffer): void {
    if (this.#handler === undefined) this.destroy()
    else this.#handler.received(bytes)
  }

  #ended(): void {
    const handler = this.#handler
    this.destroy()
    handler?.ended()
  }

  #failed(error: Error): void {
    const handler = this.#handler
    this.destroy()
    handler?.failed(error)
  }
}
