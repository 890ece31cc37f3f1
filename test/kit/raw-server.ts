import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** Answers one request on the connection that it came on. */
export type RawAnswerer = (socket: Socket, request: Buffer) => unknown

/** A server that speaks bytes: it says exactly what a test wants said, when it wants it. */
export class RawServer {
  /** The bytes of each request, in order. */
  readonly requests: Buffer[] = []
  readonly sockets: Socket[] = []
  readonly #answerers: RawAnswerer[] = []
  readonly #server = createServer({ noDelay: true }, (socket) => this.#welcome(socket))
  /** Answers what nothing else is scripted for. */
  otherwise: RawAnswerer = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }
  /** How the next requests are answered, one after another; text is written as it stands. */
  script(...answers: readonly (RawAnswerer | string)[]): this {
    for (const answer of answers)
      this.#answerers.push(typeof answer === 'string' ? (socket) => socket.write(answer, 'latin1') : answer)
    return this
  }
  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #welcome(socket: Socket): void {
    this.sockets.push(socket)
    socket.on('error', () => {})
    let pending = Buffer.alloc(0)
    socket.on('data', (bytes: Buffer) => {
      pending = Buffer.concat([pending, bytes])
      for (let end = requestEnd(pending); end !== -1; end = requestEnd(pending)) {
        const request = pending.subarray(0, end)
        pending = pending.subarray(end)
        this.requests.push(request)
        const answer = this.#answerers.shift() ?? this.otherwise
        answer(socket, request)
      }
    })
  }
}

/** Where the first request ends; -1 if it has not come whole. */
const requestEnd = (bytes: Buffer): number => {
  const head = bytes.indexOf('\r\n\r\n')
  if (head === -1) return -1
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, head))?.[1] ?? '0'
  const end = head + 4 + Number(length)
  return end > bytes.length ? -1 : end
}

export const rawServer = (): Promise<RawServer> => new RawServer().listen()
