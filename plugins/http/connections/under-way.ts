import type { HttpClient } from './client.ts'

/**
 * The exchanges under way. An array instead of a Set: a Set that is added to and deleted from all the time leaves old tables behind
 * that keep every finished exchange alive until the next full garbage collection.
 */
export class UnderWay {
  readonly #clients: HttpClient[] = []

  get size(): number {
    return this.#clients.length
  }

  add(client: HttpClient): void {
    client.place = this.#clients.length
    this.#clients.push(client)
  }

  remove(client: HttpClient): void {
    const last = this.#clients.pop()
    if (last === undefined || last === client) return
    last.place = client.place
    this.#clients[client.place] = last
  }

  /** All of them at this moment. */
  all(): readonly HttpClient[] {
    return [...this.#clients]
  }
}
