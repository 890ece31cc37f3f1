import type { InFlightClient } from 'guard-gateway/lib/http'

/**
 * The model requests in flight. An array instead of a Set: a Set with constant additions and deletions leaves old tables
 * that keep every finished exchange alive until the next full garbage collection.
 */
export class InFlightRequests {
  readonly #clients: InFlightClient[] = []

  get size(): number {
    return this.#clients.length
  }

  add(client: InFlightClient): void {
    client.index = this.#clients.length
    this.#clients.push(client)
  }

  remove(client: InFlightClient): void {
    const last = this.#clients.pop()
    if (last === undefined || last === client) return
    last.index = client.index
    this.#clients[client.index] = last
  }

  /** All of them at this moment. */
  all(): readonly InFlightClient[] {
    return [...this.#clients]
  }
}
