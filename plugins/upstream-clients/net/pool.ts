import type { Connections, Exchange, UpstreamAddress, UpstreamListener, UpstreamRequest } from 'guard-gateway/core'
import { Connection, type Keeper } from './connection.ts'
import { requestBytes } from './request-bytes.ts'
import { Transfer } from './transfer.ts'

const MAX_IDLE = 256
/** The other side may close a connection that it keeps for so long only; a request should not meet that. */
const MARGIN_MS = 1_000

/** The connections to one address: the one used last is used next. */
export class Pool implements Connections, Keeper {
  readonly #address: UpstreamAddress
  readonly #idle: Connection[] = []
  readonly #all = new Set<Connection>()
  #sweep: NodeJS.Timeout | undefined
  #isRetired = false
  session: Buffer | undefined

  constructor(address: UpstreamAddress) {
    this.#address = address
  }

  send(request: UpstreamRequest, listener: UpstreamListener): Exchange {
    const bytes = requestBytes(request)
    const connection = this.#take() ?? this.#open()
    const transfer = new Transfer(connection, listener, request.method, bytes.closes)
    connection.carry(transfer, bytes)
    return transfer
  }

  retire(): void {
    this.#isRetired = true
    clearTimeout(this.#sweep)
    for (const connection of [...this.#idle]) connection.destroy()
  }

  close(): void {
    this.retire()
    for (const connection of [...this.#all]) connection.breakOff()
  }

  keep(connection: Connection, kept_ms: number): void {
    const left = Math.min(this.#address.idle_ms, kept_ms - MARGIN_MS)
    if (this.#isRetired || left <= 0 || this.#idle.length >= MAX_IDLE) return void connection.destroy()
    connection.expires = performance.now() + left
    this.#idle.push(connection)
    this.#sweep ??= this.#sweepIn(left)
  }

  forget(connection: Connection): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  #take(): Connection | undefined {
    const now = performance.now()
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.expires > now && connection.isUsable) return connection
      connection.destroy()
    }
    return undefined
  }

  #open(): Connection {
    const connection = new Connection(this.#address, this)
    this.#all.add(connection)
    return connection
  }

  #sweepIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#dropExpired(), Math.ceil(ms)).unref()
  }

  #dropExpired(): void {
    const now = performance.now()
    for (const connection of this.#idle.filter(({ expires }) => expires <= now)) connection.destroy()
    const next = Math.min(...this.#idle.map(({ expires }) => expires))
    this.#sweep = this.#idle.length === 0 ? undefined : this.#sweepIn(next - now)
  }
}
