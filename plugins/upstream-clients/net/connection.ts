import type { Socket } from 'node:net'
import type { UpstreamAddress } from 'guard-gateway/core'
import { isTunnelled } from 'guard-gateway/lib/network'
import { HangUp } from './fault.ts'
import { directSocket, type Keeper, tunnelSocket } from './open.ts'
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
export interface ConnectionKeeper extends Keeper {
  keep(connection: Connection, kept_ms: number): void
  forget(connection: Connection): void
}

/** One connection, for as long as it lives. Bytes that come while it carries nothing end it. */
export class Connection {
  /** While a tunnel is made, the way to its proxy. */
  #socket: Socket
  readonly #keeper: ConnectionKeeper
  #cargo: Cargo | undefined
  /** What waits for the tunnel to be there. */
  #waiting: RequestBytes | undefined
  #isOpening: boolean
  /** When nobody may count on it any more, by the clock of `performance.now`. */
  expires = 0

  constructor(address: UpstreamAddress, keeper: ConnectionKeeper) {
    this.#keeper = keeper
    this.#isOpening = isTunnelled(address)
    if (this.#isOpening) this.#socket = tunnelSocket(address, keeper, (made) => this.#tunnelled(made, address.idle_ms))
    else {
      this.#socket = directSocket(address, keeper, (bytes) => this.#take(bytes))
      this.#listen(address.idle_ms)
    }
  }

  /** It was open when it was last looked at. */
  get isUsable(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded
  }

  /** Sends a request in one write; the cargo gets what comes back. */
  carry(cargo: Cargo, bytes: RequestBytes): void {
    this.#cargo = cargo
    if (this.#isOpening) this.#waiting = bytes
    else this.#write(cargo, bytes)
  }

  #write(cargo: Cargo, { head, body }: RequestBytes): void {
    const socket = this.#socket
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

  #listen(idle_ms: number): void {
    const socket = this.#socket
    socket.setNoDelay(true).setKeepAlive(true, PROBE_MS).setTimeout(idle_ms)
    socket.on('end', () => this.#ended())
    socket.on('error', (error) => this.#lost(error))
    socket.on('close', () => this.#lost(new HangUp()))
    socket.on('timeout', () => {
      // it fires once only, and the silence may yet become one that counts
      socket.setTimeout(idle_ms)
      this.#cargo?.silent()
    })
  }

  #tunnelled(made: Socket | Error, idle_ms: number): void {
    this.#isOpening = false
    if (made instanceof Error) return void this.#lost(made)
    this.#socket = made
    this.#listen(idle_ms)
    made.on('data', (bytes: Buffer) => this.#take(bytes))
    const waiting = this.#waiting
    this.#waiting = undefined
    // who has asked may have left meanwhile
    if (this.#cargo === undefined || waiting === undefined) this.destroy()
    else this.#write(this.#cargo, waiting)
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
