import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws'
import { type CreateMessage, SocketLanes, type SocketScript } from './socket-lanes.ts'

/** A handshake as a provider got it. */
export interface ReceivedHandshake {
  readonly path: string
  /** Name, value, name, value … as they came. */
  readonly headers: readonly string[]
}

/** How handshakes are answered. */
export interface HandshakeScript {
  /** Instead of 101. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Nothing is answered. */
  readonly silent?: true
  /** Waits before it answers. */
  readonly until?: Promise<unknown>
}

/** One WebSocket of a provider. */
export class ProviderSocket {
  readonly socket: WebSocket
  /** Messages as they came. */
  readonly received: Buffer[] = []
  readonly pings: Buffer[] = []
  /** Close code and reason, once the client has closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  #waiting: ((message: Buffer) => void)[] = []

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('ping', (data) => this.pings.push(data))
    socket.on('message', (data) => {
      this.received.push(data as Buffer)
      this.#waiting.shift()?.(data as Buffer)
    })
    this.closed = new Promise((resolve) =>
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
    )
  }
  /** The next message that comes. */
  next(): Promise<Buffer> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
  send(message: object | string | Buffer): void {
    const isObject = typeof message === 'object' && !Buffer.isBuffer(message)
    this.socket.send(isObject ? JSON.stringify(message) : message, { binary: false })
  }
  /** Ends the connection without a close frame. */
  cut(): void {
    this.socket.terminate()
  }
}

/** A provider on loopback that speaks the Responses API over WebSocket and does as it is told. */
export class SocketProvider {
  readonly handshakes: ReceivedHandshake[] = []
  readonly sockets: ProviderSocket[] = []
  /** Requests as they came, on whichever connection. */
  readonly creates: CreateMessage[] = []
  /** Clients that left without an answer to their handshake. */
  left = 0
  /** Headers of the 101. */
  readonly headers: string[] = []
  readonly #handshakeScripts: HandshakeScript[] = []
  readonly #scripts: SocketScript[] = []
  readonly #waiting: ((socket: ProviderSocket) => void)[] = []
  readonly #all = new Set<Socket>()
  readonly #upgrades: WebSocketServer
  readonly #server = createServer((_request, response) => void response.writeHead(404).end())

  constructor(options: ServerOptions = {}) {
    this.#upgrades = new WebSocketServer({ noServer: true, maxPayload: 256 * 1024 * 1024, ...options })
    this.#upgrades.on('headers', (lines) => lines.push(...this.headers))
    this.#server.on('connection', (socket: Socket) => {
      this.#all.add(socket)
      socket.on('error', () => {}).on('close', () => this.#all.delete(socket))
    })
    this.#server.on('upgrade', (request, socket, head) => void this.#answer(request, socket, head))
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }
  /** How the next handshakes are answered. */
  handshake(...scripts: readonly HandshakeScript[]): this {
    this.#handshakeScripts.push(...scripts)
    return this
  }
  /** How the next requests are answered, one after another; those after them, well. */
  script(...scripts: readonly SocketScript[]): this {
    this.#scripts.push(...scripts)
    return this
  }
  /** The next connection that is made. */
  next(): Promise<ProviderSocket> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
  get last(): ProviderSocket {
    const socket = this.sockets.at(-1)
    if (socket === undefined) throw new Error('the provider got no connection')
    return socket
  }
  async close(): Promise<void> {
    for (const socket of this.#all) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #answer(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.handshakes.push({ path: request.url ?? '', headers: request.rawHeaders })
    const script = this.#handshakeScripts.shift() ?? {}
    await script.until
    if (script.silent === true)
      return void socket
        .resume()
        .once('end', () => socket.destroy())
        .once('close', () => this.left++)
    if (script.status !== undefined) {
      const { status, headers = {}, body = '' } = script
      const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' })
      const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      socket.end(`HTTP/1.1 ${status} Refused\r\n${text}\r\n${body}`)
      return
    }
    this.#upgrades.handleUpgrade(request, socket, head, (accepted) => {
      const one = new ProviderSocket(accepted)
      this.sockets.push(one)
      new SocketLanes(one, () => this.#scripts.shift() ?? {}, this.creates)
      this.#waiting.shift()?.(one)
    })
  }
}

/** A provider that listens on a port of the system's choice. */
export const socketProvider = (options?: ServerOptions): Promise<SocketProvider> => new SocketProvider(options).listen()
