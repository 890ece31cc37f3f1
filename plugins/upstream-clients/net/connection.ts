import { connect as connectPlain, isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import type { UpstreamAddress } from 'guard-gateway/core'
import { ConnectTimeout, HangUp } from './fault.ts'
import type { RequestBytes } from './request-bytes.ts'

const PROBE_MS = 30_000

/** What a connection carries: one request and its answer. */
export interface Cargo {
  take(bytes: Buffer): void
  /** The request's body, where it was a buffer of its own, is not read any more. */
  sent(): void
  /** The other side sends no more. */
  ended(): void
  /** The connection broke. */
  lost(error: Error): void
  /** Nothing has come for a while. */
  silent(): void
}

/** Who keeps connections between requests. */
export interface Keeper {
  /** What the other side gave to make the next TLS connection cheaper. */
  session: Buffer | undefined
  keep(connection: Connection, kept_ms: number): void
  forget(connection: Connection): void
}

/** One connection, for as long as it lives. Bytes that come while it carries nothing end it. */
export class Connection {
  readonly #socket: Socket
  readonly #keeper: Keeper
  #cargo: Cargo | undefined
  /** When nobody may count on it any more, by the clock of `performance.now`. */
  expires = 0

  constructor(address: UpstreamAddress, keeper: Keeper) {
    this.#keeper = keeper
    const socket = open(address, keeper, (bytes) => this.#take(bytes))
    this.#socket = socket
    socket.setNoDelay(true).setKeepAlive(true, PROBE_MS).setTimeout(address.idle_ms)
    socket.on('end', () => this.#ended())
    socket.on('error', (error) => this.#lost(error))
    socket.on('close', () => this.#lost(new HangUp()))
    socket.on('timeout', () => {
      // it fires once only, and the silence may yet become one that counts
      socket.setTimeout(address.idle_ms)
      this.#cargo?.silent()
    })
  }

  /** It was open when it was last looked at. */
  get isUsable(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded
  }

  /** Sends a request in one write; the cargo gets what comes back. */
  carry(cargo: Cargo, { head, body }: RequestBytes): void {
    const socket = this.#socket
    this.#cargo = cargo
    socket.ref()
    if (body === undefined) return void socket.write(head)
    socket.cork()
    socket.write(head)
    socket.write(body, () => cargo.sent())
    socket.uncork()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** The answer is there; 0: the connection cannot be used again. Neither can one that is still sending. */
  release(kept_ms: number): void {
    const socket = this.#socket
    if (kept_ms <= 0 || !this.isUsable || socket.writableLength > 0) return void this.destroy()
    this.#cargo = undefined
    // one that is held back would hear neither the next answer nor its own end
    if (socket.isPaused()) socket.resume()
    socket.unref()
    this.#keeper.keep(this, kept_ms)
  }

  /** Closes it; the cargo hears no more. */
  destroy(): void {
    this.#cargo = undefined
    this.#keeper.forget(this)
    this.#socket.destroy()
  }

  /** Closes it; the cargo hears that it broke. */
  breakOff(): void {
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    if (this.#cargo === undefined) this.destroy()
    else this.#cargo.take(bytes)
  }

  #ended(): void {
    const cargo = this.#cargo
    this.destroy()
    cargo?.ended()
  }

  #lost(error: Error): void {
    const cargo = this.#cargo
    this.destroy()
    cargo?.lost(error)
  }
}

/** A socket on its way; it ends with an error if it does not arrive in time. */
const open = (address: UpstreamAddress, keeper: Keeper, take: (bytes: Buffer) => void): Socket => {
  const { secure, hostname: host, port, connect_ms } = address
  const onread = { buffer: RECEIVED, callback: (length: number) => received(length, take) }
  const socket = secure ? openSecure({ host, port, onread }, keeper) : connectPlain({ host, port, onread })
  const late = setTimeout(() => socket.destroy(new ConnectTimeout(`no connection within ${connect_ms} ms`)), connect_ms)
  const made = () => clearTimeout(late)
  socket.once(secure ? 'secureConnect' : 'connect', made).once('close', made)
  return socket
}

/** What all sockets read into, one at a time: a buffer of its own for each piece would be far larger than most pieces are. */
const RECEIVED = Buffer.allocUnsafeSlow(65_536)

/** Hands a copy of the piece on, and asks for the next one. */
const received = (length: number, take: (bytes: Buffer) => void): boolean => {
  const bytes = Buffer.allocUnsafe(length)
  RECEIVED.copy(bytes, 0, 0, length)
  take(bytes)
  return true
}

const openSecure = (options: TcpNetConnectOpts & { readonly host: string }, keeper: Keeper): Socket => {
  const { session } = keeper
  const socket = connectSecure({
    ...options,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(options.host) === 0 ? { servername: options.host } : {}),
    ...(session === undefined ? {} : { session }),
  })
  socket.on('session', (fresh: Buffer) => {
    keeper.session = fresh
  })
  socket.on('error', () => {
    keeper.session = undefined
  })
  return socket
}
