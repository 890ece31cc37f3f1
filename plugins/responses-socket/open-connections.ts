import type { SocketConnection } from './connection.ts'

const GOING_AWAY = 1001

/** All connections of a gateway. */
export class OpenConnections {
  readonly #all = new Set<SocketConnection>()
  readonly #beatMs: number
  #beat: NodeJS.Timeout | undefined
  #whenNone: (() => void)[] = []
  /** Handshakes that wait for their upstream. */
  dialling = 0

  /** `beatMs`: how often both sides are asked for a sign of life. */
  constructor(beatMs: number) {
    this.#beatMs = beatMs
  }

  get size(): number {
    return this.#all.size + this.dialling
  }

  add(connection: SocketConnection): void {
    this.#all.add(connection)
    this.#beat ??= setInterval(() => {
      for (const one of this.#all) one.beat()
    }, this.#beatMs).unref()
  }

  remove(connection: SocketConnection): void {
    this.#all.delete(connection)
    if (this.#all.size > 0) return
    clearInterval(this.#beat)
    this.#beat = undefined
    for (const resolve of this.#whenNone) resolve()
    this.#whenNone = []
  }

  /** Closes each once nothing is under way on it; resolves when there is none. */
  drain(): Promise<void> {
    for (const connection of this.#all) connection.leave(GOING_AWAY)
    if (this.#all.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenNone.push(resolve))
  }

  destroy(): void {
    for (const connection of this.#all) connection.destroy()
  }
}
