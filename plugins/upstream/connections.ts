import { GuardError, type Registry } from 'guard-gateway/core'
import type {
  Connections,
  Exchange,
  UpstreamAddress,
  UpstreamClient,
  UpstreamListener,
  UpstreamRequest,
} from '#lib/upstream-client'

type Clients = Registry<UpstreamClient>

/** The client of this id, or the first there is. Throws UNKNOWN, or MISSING_PLUGIN if there is none at all. */
export const clientOf = (clients: Clients, id: string | undefined): UpstreamClient => {
  if (id !== undefined) return clients.need(id)
  const [first] = clients
  if (first !== undefined) return first
  throw new GuardError(
    'MISSING_PLUGIN',
    'Plugin "upstream" needs one that speaks to upstreams, for example upstream-clients/undici.',
  )
}

/** The connections of one upstream, made by its client with the first request: whatever plugin that comes from is there by then. */
export class UpstreamConnections implements Connections {
  readonly #clients: Clients
  readonly #id: string | undefined
  readonly #address: UpstreamAddress
  #made: Connections | undefined

  constructor(clients: Clients, id: string | undefined, address: UpstreamAddress) {
    this.#clients = clients
    this.#id = id
    this.#address = address
  }

  send(request: UpstreamRequest, listener: UpstreamListener): Exchange {
    this.#made ??= clientOf(this.#clients, this.#id).connect(this.#address)
    return this.#made.send(request, listener)
  }

  retire(): void {
    this.#made?.retire()
  }

  close(): void {
    this.#made?.close()
  }
}
