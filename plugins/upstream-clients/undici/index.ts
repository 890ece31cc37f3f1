import type { SecureContext } from 'node:tls'
import {
  type Connections,
  type Exchange,
  type UpstreamAddress,
  type UpstreamListener,
  type UpstreamRequest,
  upstreamClient,
} from 'guard-gateway/lib/upstream-client'
import { requestPrefix, trustOf, withProxyErrors } from '#lib/network'
import { Connection, type ConnectionOwner } from './connection.ts'
import { ConnectionClosed } from './errors.ts'
import { UndiciExchange } from './exchange.ts'

/** Speaks HTTP/1.1 to upstreams through `undici`, a connection a client. */
export const undici = upstreamClient({
  id: 'undici',
  connect: (address) => new ConnectionPool(address),
})

const MAX_IDLE = 256

/** The connections to one address, last in first out. */
class ConnectionPool implements Connections, ConnectionOwner {
  readonly #address: UpstreamAddress
  /** What stands before the path where a proxy takes whole URLs. */
  readonly #prefix: string
  /** Name and value, for such a proxy alone. */
  readonly #login: readonly string[]
  readonly #idle: Connection[] = []
  readonly #all = new Set<Connection>()
  #isRetired = false
  session: Buffer | undefined
  readonly trust: SecureContext | undefined

  constructor(address: UpstreamAddress) {
    this.#address = address
    this.#prefix = requestPrefix(address)
    const authorization = this.#prefix === '' ? undefined : address.proxy?.authorization
    this.#login = authorization === undefined ? [] : ['Proxy-Authorization', authorization]
    this.trust = trustOf(address)
  }

  send(request: UpstreamRequest, listener: UpstreamListener): Exchange {
    const isDirect = this.#prefix === ''
    const sent = isDirect
      ? request
      : { ...request, path: this.#prefix + request.path, headers: [...request.headers, ...this.#login] }
    const exchange = new UndiciExchange(sent, withProxyErrors(this.#address, listener))
    const connection = this.#takeIdle() ?? this.#open()
    connection.send(exchange)
    return exchange
  }

  retire(): void {
    this.#isRetired = true
    for (const connection of [...this.#idle]) connection.destroy()
  }

  close(): void {
    this.retire()
    for (const connection of [...this.#all]) connection.abort(new ConnectionClosed())
  }

  addIdle(connection: Connection): void {
    if (this.#isRetired || this.#idle.length >= MAX_IDLE) connection.destroy()
    else this.#idle.push(connection)
  }

  remove(connection: Connection): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  #takeIdle(): Connection | undefined {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.isUsable) return connection
      connection.destroy()
    }
    return undefined
  }

  #open(): Connection {
    const connection = new Connection(this.#address, this)
    this.#all.add(connection)
    return connection
  }
}
