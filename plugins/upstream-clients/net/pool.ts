import type { SecureContext } from 'node:tls'
import type { Connections, Exchange, UpstreamAddress, UpstreamListener, UpstreamRequest } from 'guard-gateway/core'
import { behindProxy, requestPrefix, trustOf } from 'guard-gateway/lib/network'
import { Connection, type ConnectionKeeper } from './connection.ts'
import { HangUp } from './fault.ts'
import { type ProxyForm, type RequestBytes, RequestLayout } from './request-bytes.ts'
import { Transfer } from './transfer.ts'

const MAX_IDLE = 256
/** The other side may close a connection that it keeps for so long only; a request should not meet that. */
const MARGIN_MS = 1_000

interface Asked {
  readonly transfer: Transfer
  readonly bytes: RequestBytes
}

/** The connections to one address: the one used last is used next. */
export class Pool implements Connections, ConnectionKeeper {
  readonly #address: UpstreamAddress
  readonly #layout: RequestLayout
  readonly #idle: Connection[] = []
  readonly #all = new Set<Connection>()
  /**
   * Requests of this turn of the event loop. They go out at its end, one after the other: a server that waits is woken once for all of them,
   * and a connection that its server has closed in this turn is known to be closed.
   */
  #asked: Asked[] = []
  #sweep: NodeJS.Timeout | undefined
  #isRetired = false
  session: Buffer | undefined
  readonly trust: SecureContext | undefined

  constructor(address: UpstreamAddress) {
    this.#address = address
    this.#layout = new RequestLayout(proxyForm(address))
    this.trust = trustOf(address)
  }

  send(request: UpstreamRequest, listener: UpstreamListener): Exchange {
    const bytes = this.#layout.bytes(request)
    const transfer = new Transfer(behindProxy(this.#address, listener), request.method, bytes.closes)
    if (this.#asked.push({ transfer, bytes }) === 1) setImmediate(() => this.#sendAll())
    return transfer
  }

  retire(): void {
    this.#isRetired = true
    clearTimeout(this.#sweep)
    for (const connection of [...this.#idle]) connection.destroy()
  }

  close(): void {
    this.retire()
    for (const { transfer } of this.#asked) transfer.lost(new HangUp())
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

  #sendAll(): void {
    const asked = this.#asked
    this.#asked = []
    for (const one of asked) this.#begin(one)
  }

  #begin({ transfer, bytes }: Asked): void {
    if (transfer.isOver) return
    try {
      transfer.begin(this.#take() ?? this.#open(), bytes)
    } catch (error) {
      transfer.lost(error instanceof Error ? error : new HangUp())
    }
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

const proxyForm = (address: UpstreamAddress): ProxyForm => {
  const prefix = requestPrefix(address)
  const authorization = prefix === '' ? undefined : address.proxy?.authorization
  return { prefix, lines: authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n` }
}
