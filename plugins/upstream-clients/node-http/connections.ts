import type { Agent, request } from 'node:http'
import { isIP } from 'node:net'
import { firstHop, isTunnelled, requestPrefix, trustOf, withProxyErrors } from 'guard-gateway/lib/network'
import type {
  Connections,
  Exchange,
  UpstreamAddress,
  UpstreamListener,
  UpstreamRequest,
} from 'guard-gateway/lib/upstream-client'
import { NodeExchange } from './exchange.ts'
import { tunnelAgent } from './tunnels.ts'
import { watchConnections } from './watch.ts'

/** One agent and what it is asked with. */
export class NodeConnections implements Connections {
  readonly #address: UpstreamAddress
  readonly #agent: Agent
  readonly #request: typeof request
  /** What stands before the path where a proxy takes whole URLs. */
  readonly #prefix: string
  /** Name and value, for such a proxy alone. */
  readonly #login: readonly string[]
  /** Ends the tunnels that are not there yet. */
  readonly #giveUp: () => void

  constructor(address: UpstreamAddress) {
    const { Agent, request } = process.getBuiltinModule(
      firstHop(address).secure || address.secure ? 'node:https' : 'node:http',
    )
    const trust = trustOf(address)
    this.#address = address
    this.#agent = new Agent({
      keepAlive: true,
      keepAliveMsecs: 30_000,
      timeout: address.idle_ms,
      ...(trust === undefined ? {} : { secureContext: trust }),
      // else it is the one that the header host names
      ...(address.proxy === undefined ? {} : { servername: nameOf(address.proxy.hostname) }),
    })
    this.#request = request
    this.#prefix = requestPrefix(address)
    const authorization = this.#prefix === '' ? undefined : address.proxy?.authorization
    this.#login = authorization === undefined ? [] : ['Proxy-Authorization', authorization]
    this.#giveUp = isTunnelled(address) ? tunnelAgent(this.#agent, address, trust) : () => {}
    watchConnections(this.#agent, address)
  }

  send({ method, path, headers, body }: UpstreamRequest, listener: UpstreamListener): Exchange {
    const { hostname, port } = firstHop(this.#address)
    const request = this.#request({
      method,
      path: this.#prefix + path,
      headers: [...headers, ...this.#login],
      hostname,
      port,
      agent: this.#agent,
    })
    const exchange = new NodeExchange(request, withProxyErrors(this.#address, listener))
    request.end(body)
    return exchange
  }

  retire(): void {
    this.#agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }

  close(): void {
    this.#giveUp()
    this.#agent.destroy()
  }
}

/** The name that TLS asks for; an address has none. */
const nameOf = (hostname: string): string => (isIP(hostname) === 0 ? hostname : '')
