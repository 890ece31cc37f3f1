import type { Socket } from 'node:net'
import type { MessageSocket, SocketListener } from 'guard-gateway/lib/upstream-client'
import type { WebSocket } from 'ws'

const NO_FRAME = 1006
const NOTHING = Buffer.alloc(0)

/** How long a peer may take to answer a close frame, in milliseconds. */
export const CLOSE_MS = 2_000

/** What both ends have in common. */
export const commonOptions = {
  closeTimeout: CLOSE_MS,
  allowSynchronousEvents: true,
  skipUTF8Validation: false,
} as const

const unheard: SocketListener = { message() {}, taken() {}, closed() {} }

/** One end of a WebSocket, paused until somebody listens. */
export class WsMessageSocket implements MessageSocket {
  readonly #socket: WebSocket
  readonly #raw: Partial<Pick<Socket, 'setTimeout' | 'once' | 'bytesRead'>>
  #listener = unheard
  /** The end that came before anybody listened. */
  #end: { readonly code: number; readonly reason: Buffer } | undefined
  #isOver = false
  #limitsStall = false
  readonly #taken = (): void => this.#listener.taken()

  constructor(socket: WebSocket, raw: object) {
    this.#socket = socket
    this.#raw = raw
    socket.pause()
    socket.on('message', (data, isBinary) => this.#listener.message(data as Buffer, !isBinary))
    socket.on('close', (code, reason) => this.#over(code, reason))
    // the protocol was broken: the close frame that says so is on its way
    socket.on('error', () => this.#over(NO_FRAME, NOTHING))
  }

  listen(listener: SocketListener): void {
    this.#listener = listener
    if (this.#end === undefined) return void this.#socket.resume()
    const { code, reason } = this.#end
    queueMicrotask(() => listener.closed(code, reason))
  }

  send(message: Uint8Array, isText = true): void {
    this.#socket.send(message, isText ? TEXT : BINARY, this.#taken)
  }

  get waiting(): number {
    return this.#socket.bufferedAmount
  }

  get received(): number {
    return this.#raw.bytesRead ?? 0
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  ping(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
  }

  close(code?: number, reason?: Uint8Array): void {
    // what comes before the answer to the frame is read, so that the answer is
    this.#socket.resume()
    this.#socket.close(code, reason === undefined ? undefined : Buffer.from(reason))
  }

  destroy(): void {
    this.#socket.terminate()
  }

  limitStall(ms: number): void {
    this.#raw.setTimeout?.(ms)
    if (this.#limitsStall) return
    this.#limitsStall = true
    this.#raw.once?.('timeout', () => this.destroy())
  }

  #over(code: number, reason: Buffer): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#listener === unheard) this.#end = { code, reason }
    else this.#listener.closed(code, reason)
  }
}

const TEXT = { binary: false } as const
const BINARY = { binary: true } as const
