import { type Gateway, GuardError, type Registry } from 'guard-gateway/core'
import { type Connections, type UpstreamAddress, type UpstreamClient, upstreamClientKind } from '#lib/upstream-client'

/** The connections of a gateway to servers that are reached over HTTP, a set for each address. */
export class ServerConnections {
  readonly #clients: Registry<UpstreamClient>
  readonly #sets = new Map<string, Connections>()

  constructor(gateway: Gateway) {
    this.#clients = gateway.registry(upstreamClientKind)
  }

  /** Those to an address, made by the first client there is. Throws MISSING_PLUGIN if there is none. */
  to(address: UpstreamAddress): Connections {
    const name = JSON.stringify(address)
    const known = this.#sets.get(name)
    if (known !== undefined) return known
    const [client] = this.#clients
    if (client === undefined) {
      throw new GuardError(
        'MISSING_PLUGIN',
        'An MCP server that is reached over HTTP needs a plugin that speaks HTTP, for example upstream-clients/undici.',
      )
    }
    const made = client.connect(address)
    this.#sets.set(name, made)
    return made
  }

  /** Ends all of them at once. */
  close(): void {
    for (const connections of this.#sets.values()) connections.close()
    this.#sets.clear()
  }
}

declare module 'guard-gateway/core' {
  interface Services {
    mcpConnections: ServerConnections
  }
}

/** The connections of a gateway to its MCP servers. */
export const connectionsOf = (gateway: Gateway): ServerConnections =>
  gateway.service('mcpConnections').getOrProvide(() => new ServerConnections(gateway))
