import type { HttpClient } from './client.ts'

/**
 * The model requests in flight. An array instead of a Set: a Set with constant additions and deletions leaves old tables
 * that keep every finished exchange alive until the next full garbage collection.
 */
export class InFlightRequests {
  readonly #clients: HttpClient[] = []

  get size(): number {
    return this.#clients.length
  }

  add(client: HttpClient): void {
    client.index = this.#clients.length
    this.#clients.push(client)
  }

  remove(client: HttpClient): void {
    const last = this.#clients.pop()
    if (last === undefined || last === client) return
    last.index = client.index
    this.#clients[client.index] = last
  }

  /** All of them at this moment. */
  all(): readonly HttpClient[] {
    return [...this.#clients]
  }
}
