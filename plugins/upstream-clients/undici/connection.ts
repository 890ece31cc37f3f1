import type { Socket } from 'node:net'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'
import Client from 'undici/lib/dispatcher/client.js'
import { ConnectionClosed, HttpFault } from './errors.ts'
import type { UndiciExchange } from './exchange.ts'
import { openSocket, type TlsState } from './open-socket.ts'
import { ResponseBytes } from './response-bytes.ts'

const PROBE_MS = 30_000
/** A connection is dropped so long before the server's keep-alive ends, so that no request meets its close. */
const EXPIRY_MARGIN_MS = 1_000
/** Undici gives a connection up whose host changes; here the connection decides where it leads. */
const ORIGIN = 'http://upstream'

/** Keeps connections between requests. */
export interface ConnectionOwner extends TlsState {
  addIdle(connection: Connection): void
  remove(connection: Connection): void
}

/**
 * A client of undici with one connection at a time. Between undici and the socket, two of the socket's methods differ: what is written
 * has its headers in the order and spelling of the request, which undici changes for those that frame a message, and what is read is
 * without informational heads, of which undici takes 100 for a fault.
 */
export class Connection {
  readonly #client: Client
  readonly #address: UpstreamAddress
  readonly #owner: ConnectionOwner
  readonly #response = new ResponseBytes()
  #socket: Socket | undefined
  #exchange: UndiciExchange | undefined

  constructor(address: UpstreamAddress, owner: ConnectionOwner) {
    this.#address = address
    this.#owner = owner
    const { idle_ms } = address
    this.#client = new Client(ORIGIN, {
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idle_ms,
      keepAliveMaxTimeout: idle_ms,
      keepAliveTimeoutThreshold: EXPIRY_MARGIN_MS,
      useMilo: false,
      connect: (_options, done) => {
        this.#socket = openSocket(address, owner, (error, socket) => {
          if (error !== undefined) {
            // undici would leave a request to another host name waiting
            this.abort(error)
            return done(error, null)
          }
          this.#use(socket)
          done(null, socket)
        })
      },
    })
    this.#client.on('disconnect', () => {
      if (this.#exchange === undefined) this.destroy()
    })
  }

  /** False once either side has closed it. */
  get isUsable(): boolean {
    const socket = this.#socket
    return socket?.writable === true && !socket.readableEnded
  }

  /** Throws TypeError, and sends nothing, for what HTTP forbids. */
  send(exchange: UndiciExchange): void {
    this.#exchange = exchange
    try {
      exchange.begin(this, this.#client)
    } catch (error) {
      this.destroy()
      throw error
    }
  }

  /** A piece of the body has been parsed. */
  progressed(): void {
    this.#response.progressed()
  }

  /** The response is complete. A connection that is still sending cannot be used again. */
  release(): void {
    this.#exchange = undefined
    if (this.isUsable && this.#socket?.writableLength === 0) this.#owner.addIdle(this)
    else this.destroy()
  }

  /** Closes it; the exchange hears nothing more. */
  destroy(): void {
    this.#exchange = undefined
    this.#owner.remove(this)
    this.#client.destroy(new ConnectionClosed(), () => {})
    this.#socket?.destroy()
  }

  /** Closes it; the exchange fails. */
  abort(reason: Error): void {
    if (this.#exchange === undefined) this.destroy()
    else this.#exchange.stop(reason)
  }

  #use(socket: Socket): void {
    const { idle_ms } = this.#address
    this.#socket = socket
    socket.setNoDelay(true).setKeepAlive(true, PROBE_MS).setTimeout(idle_ms)
    socket.on('timeout', () => {
      // it fires only once, and a paused body may be resumed later
      socket.setTimeout(idle_ms)
      const [exchange, { bytesRead }] = [this.#exchange, socket]
      if (exchange?.isReading !== true) return
      // after a stop or a sleep of this process, timers run before what arrived meanwhile is read
      setImmediate(() => {
        if (exchange.isReading && socket.bytesRead === bytesRead) exchange.stop(new Error('the upstream was silent'))
      })
    })
    // undici takes a reset for the end of a body that has no length
    socket.on('error', (error) => this.#exchange?.onResponseError(undefined, error))
    const write = socket.write.bind(socket) as (data: string | Buffer, encoding?: string, done?: () => void) => boolean
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null
    socket.write = (data: string | Uint8Array): boolean => {
      const exchange = this.#exchange
      if (typeof data !== 'string') return write(data as Buffer, undefined, () => exchange?.sent())
      this.#response.begin()
      return write(exchange?.head ?? data, 'latin1')
    }
    socket.read = (size?: number): Buffer | null => {
      const bytes = read(size)
      try {
        return bytes === null || bytes.length === 0 ? bytes : this.#response.push(bytes)
      } catch (error) {
        this.#exchange?.stop(error instanceof Error ? error : new HttpFault('HPE_INVALID_STATUS'))
        return null
      }
    }
  }
}
