import type { Agent, request } from 'node:http'
import type { Connections, Exchange, UpstreamAddress, UpstreamListener, UpstreamRequest } from 'guard-gateway/core'
import { NodeExchange } from './exchange.ts'
import { watchConnections } from './watch.ts'

/** One agent and what it is asked with. */
export class NodeConnections implements Connections {
  readonly #address: UpstreamAddress
  readonly #agent: Agent
  readonly #request: typeof request

  constructor(address: UpstreamAddress) {
    const { Agent, request } = process.getBuiltinModule(address.secure ? 'node:https' : 'node:http')
    this.#address = address
    this.#agent = new Agent({ keepAlive: true, keepAliveMsecs: 30_000, timeout: address.idle_ms })
    this.#request = request
    watchConnections(this.#agent, address)
  }

  send({ method, path, headers, body }: UpstreamRequest, listener: UpstreamListener): Exchange {
    const { hostname, port } = this.#address
    const request = this.#request({ method, path, headers, hostname, port, agent: this.#agent })
    const exchange = new NodeExchange(request, listener)
    request.end(body)
    return exchange
  }

  retire(): void {
    this.#agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }

  close(): void {
    this.#agent.destroy()
  }
}
