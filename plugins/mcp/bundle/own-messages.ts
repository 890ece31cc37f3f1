import type { OutgoingMessage } from '../relay/response.ts'

/** How many messages wait for a client that does not listen. */
const MAX_UNSENT = 64

/** Messages to a client that belong to no request: they go to one open stream, and wait where there is none. */
export class OwnMessages {
  readonly #listeners = new Set<(out: OutgoingMessage) => void>()
  /** Each text once: that a list has changed need not be said twice. */
  readonly #unsent = new Set<string>()

  /** Gives messages to a listener until the returned function is called. */
  listen(listener: (out: OutgoingMessage) => void): () => void {
    this.#listeners.add(listener)
    for (const message of this.#unsent) listener({ message })
    this.#unsent.clear()
    return () => this.#listeners.delete(listener)
  }

  emit(message: string): void {
    const [listener] = this.#listeners
    if (listener !== undefined) listener({ message })
    else this.#keep(message)
  }

  #keep(message: string): void {
    this.#unsent.add(message)
    const [oldest = ''] = this.#unsent
    if (this.#unsent.size > MAX_UNSENT) this.#unsent.delete(oldest)
  }
}
