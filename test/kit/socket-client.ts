import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type ClientOptions, WebSocket } from 'ws'

/** A message as a client reads it. */
export interface ReadMessage {
  readonly type: string
  readonly [name: string]: unknown
}

/** A client of the Responses API over WebSocket. */
export class SocketClient {
  readonly socket: WebSocket
  /** Messages as they came. */
  readonly received: Buffer[] = []
  /** Of the 101. */
  headers: readonly string[] = []
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  #read = 0
  #arrived: () => void = () => {}

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.once('upgrade', (response) => {
      this.headers = response.rawHeaders
    })
    socket.on('message', (data) => {
      this.received.push(data as Buffer)
      this.#arrived()
    })
    this.closed = new Promise((resolve) =>
      socket.once('close', (code, reason) => {
        resolve({ code, reason: reason.toString() })
        this.#arrived()
      }),
    )
  }
  send(message: object | string | Buffer): void {
    const isObject = typeof message === 'object' && !Buffer.isBuffer(message)
    this.socket.send(isObject ? JSON.stringify(message) : message, { binary: false })
  }
  /** A request for a response; a text is its input. */
  create(input: unknown, more: object = {}): void {
    this.send({ type: 'response.create', model: 'm-1', input, ...more })
  }
  /** The next message, unread. */
  async nextBytes(): Promise<Buffer> {
    while (this.#read >= this.received.length) {
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error('the connection is closed')
      await new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
    }
    return this.received[this.#read++] as Buffer
  }
  async next(): Promise<ReadMessage> {
    return JSON.parse(String(await this.nextBytes())) as ReadMessage
  }
  /** Messages up to the one that ends a response, it included. */
  async response(): Promise<readonly ReadMessage[]> {
    const messages: ReadMessage[] = []
    for (;;) {
      const message = await this.next()
      messages.push(message)
      if (/^(?:response\.(?:completed|incomplete|failed)|error)$/.test(message.type)) return messages
    }
  }
  /** The message that ends the next response. */
  async end(): Promise<ReadMessage> {
    return (await this.response()).at(-1) as ReadMessage
  }
  [Symbol.dispose](): void {
    this.socket.terminate()
  }
}

const addressOf = (url: string, path: string): string => `${url.replace(/^http/, 'ws')}${path}`

/** Connects to a gateway; rejects with the answer where it is no 101. */
export const socketClient = async (
  { url, key }: { readonly url: string; readonly key: string },
  headers: Readonly<Record<string, string>> = {},
  { path = '/v1/responses', ...options }: ClientOptions & { readonly path?: string } = {},
): Promise<SocketClient> => {
  const socket = new WebSocket(addressOf(url, path), {
    perMessageDeflate: false,
    ...options,
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
  const client = new SocketClient(socket)
  await once(socket, 'open')
  return client
}

/** How a gateway refuses a handshake. */
export interface RefusedHandshake {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** Sends a handshake that is to be refused. */
export const refusedHandshake = (
  { url, key }: { readonly url: string; readonly key: string },
  headers: Readonly<Record<string, string>> = {},
  path = '/v1/responses',
): Promise<RefusedHandshake> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(addressOf(url, path), {
      perMessageDeflate: false,
      headers: { authorization: `Bearer ${key}`, ...headers },
    })
    socket.once('open', () => reject(new Error('the handshake was taken')))
    socket.on('error', reject)
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      let text = ''
      response.on('data', (chunk) => {
        text += String(chunk)
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
  })
