import type { Duplex } from 'node:stream'

const NOTHING = Buffer.alloc(0)

/** A client that waits for the answer to its handshake: whether it leaves meanwhile shows only while its connection is read. */
export class WaitingClient {
  readonly #socket: Duplex
  readonly #left = new AbortController()
  readonly #early: Buffer[] = []
  #isStopped = false
  readonly #read = (bytes: Buffer): void => void this.#early.push(bytes)
  readonly #leave = (): void => {
    this.#left.abort(new Error('the client has left'))
    this.#socket.destroy()
  }

  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket
    if (head.length > 0) this.#early.push(head)
    socket.on('data', this.#read).once('end', this.#leave).once('close', this.#leave)
  }

  /** Aborted when it leaves. */
  get signal(): AbortSignal {
    return this.#left.signal
  }

  /** Reads no more; gives what has come already, once. */
  stop(): Buffer {
    if (this.#isStopped) return NOTHING
    this.#isStopped = true
    this.#socket.pause()
    this.#socket.off('data', this.#read).off('end', this.#leave).off('close', this.#leave)
    return Buffer.concat(this.#early)
  }
}
