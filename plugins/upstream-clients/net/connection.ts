import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import type { UpstreamAddress } from 'guard-gateway/core'
import { ConnectTimeout, HangUp } from './fault.ts'
import type { RequestBytes } from './request-bytes.ts'

const PROBE_MS = 30_000

/** What a connection carries: one request and its answer. */
export interface Cargo {
  take(bytes: Buffer): void
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
    const socket = open(address, keeper)
    this.#socket = socket
    socket.setNoDelay(true).setKeepAlive(true, PROBE_MS).setTimeout(address.idle_ms)
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
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
    socket.write(body)
    socket.uncork()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** The answer is there; 0: the connection cannot be used again. Neither can one that is still sending, or has received more. */
  release(kept_ms: number): void {
    const socket = this.#socket
    const isClean = socket.writableLength === 0 && socket.readableLength === 0
    if (kept_ms <= 0 || !isClean || !this.isUsable) return void this.destroy()
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
const open = (address: UpstreamAddress, keeper: Keeper): Socket => {
  const { secure, connect_ms } = address
  const socket = secure ? openSecure(address, keeper) : connectPlain(address.port, address.hostname)
  const late = setTimeout(() => socket.destroy(new ConnectTimeout(`no connection within ${connect_ms} ms`)), connect_ms)
  const made = () => clearTimeout(late)
  socket.once(secure ? 'secureConnect' : 'connect', made).once('close', made)
  return socket
}

const openSecure = ({ hostname, port }: UpstreamAddress, keeper: Keeper): Socket => {
  const { session } = keeper
  const socket = connectSecure({
    host: hostname,
    port,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
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
