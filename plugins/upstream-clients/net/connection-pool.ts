import type { SecureContext } from 'node:tls'
import { requestPrefix, trustOf, withProxyErrors } from 'guard-gateway/lib/network'
import type {
  Connections,
  Exchange,
  UpstreamAddress,
  UpstreamListener,
  UpstreamRequest,
} from 'guard-gateway/lib/upstream-client'
import { Connection, type ConnectionOwner } from './connection.ts'
import { ConnectionClosed } from './errors.ts'
import { Http1Exchange } from './http1-exchange.ts'
import { type AbsoluteForm, type EncodedRequest, encodeRequest } from './request-encoder.ts'

const MAX_IDLE = 256
/** A connection is dropped so long before the server's keep-alive ends, so that no request meets its close. */
const EXPIRY_MARGIN_MS = 1_000

interface QueuedRequest {
  readonly exchange: Http1Exchange
  readonly bytes: EncodedRequest
}

/** The connections to one address, last in first out. */
export class ConnectionPool implements Connections, ConnectionOwner {
  readonly #address: UpstreamAddress
  readonly #form: AbsoluteForm
  readonly #idle: Connection[] = []
  readonly #all = new Set<Connection>()
  /**
   * Requests of this turn of the event loop. They are sent at its end: a waiting server wakes once for all of them, and a connection that
   * its server has closed in this turn is known to be closed.
   */
  #queued: QueuedRequest[] = []
  #sweep: NodeJS.Timeout | undefined
  #isRetired = false
  session: Buffer | undefined
  readonly trust: SecureContext | undefined

  constructor(address: UpstreamAddress) {
    this.#address = address
    this.#form = absoluteForm(address)
    this.trust = trustOf(address)
  }

  send(request: UpstreamRequest, listener: UpstreamListener): Exchange {
    const bytes = encodeRequest(request, this.#form)
    const exchange = new Http1Exchange(withProxyErrors(this.#address, listener), request.method, bytes.closes)
    if (this.#queued.push({ exchange, bytes }) === 1) setImmediate(() => this.#sendAll())
    return exchange
  }

  retire(): void {
    this.#isRetired = true
    clearTimeout(this.#sweep)
    for (const connection of [...this.#idle]) connection.destroy()
  }

  close(): void {
    this.retire()
    for (const { exchange } of this.#queued) exchange.failed(new ConnectionClosed())
    for (const connection of [...this.#all]) connection.abort()
  }

  addIdle(connection: Connection, keep_alive_ms: number): void {
    const idle_ms = Math.min(this.#address.idle_ms, keep_alive_ms - EXPIRY_MARGIN_MS)
    if (this.#isRetired || idle_ms <= 0 || this.#idle.length >= MAX_IDLE) return void connection.destroy()
    connection.expiresAt = performance.now() + idle_ms
    this.#idle.push(connection)
    this.#sweep ??= this.#sweepIn(idle_ms)
  }

  remove(connection: Connection): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  #sendAll(): void {
    const queued = this.#queued
    this.#queued = []
    for (const one of queued) this.#start(one)
  }

  #start({ exchange, bytes }: QueuedRequest): void {
    if (exchange.isOver) return
    try {
      exchange.start(this.#takeIdle() ?? this.#open(), bytes)
    } catch (error) {
      exchange.failed(error instanceof Error ? error : new ConnectionClosed())
    }
  }

  #takeIdle(): Connection | undefined {
    const now = performance.now()
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.expiresAt > now && connection.isUsable) return connection
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
    for (const connection of this.#idle.filter(({ expiresAt }) => expiresAt <= now)) connection.destroy()
    const next = Math.min(...this.#idle.map(({ expiresAt }) => expiresAt))
    this.#sweep = this.#idle.length === 0 ? undefined : this.#sweepIn(next - now)
  }
}

const absoluteForm = (address: UpstreamAddress): AbsoluteForm => {
  const prefix = requestPrefix(address)
  const authorization = prefix === '' ? undefined : address.proxy?.authorization
  return { prefix, lines: authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n` }
}
