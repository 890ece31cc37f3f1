import type { MessageSocket } from '#lib/upstream-client'

const MAX_SILENT = 2

/** Finds out whether the other end of a WebSocket is still there. */
export class SignsOfLife {
  readonly #socket: MessageSocket
  #received = -1
  #silent = 0

  constructor(socket: MessageSocket) {
    this.#socket = socket
  }

  /** It took something. */
  note(): void {
    this.#silent = 0
  }

  /** Sends a ping; cuts an end off that was silent after two of them. */
  ask(): void {
    const { received } = this.#socket
    this.#silent = received === this.#received ? this.#silent + 1 : 0
    this.#received = received
    if (this.#silent >= MAX_SILENT) this.#socket.destroy()
    else this.#socket.ping()
  }
}
