import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { replyTo, type WholeReply } from './replies.ts'

/** A request as a provider got it. */
export interface ReceivedRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Name, value, name, value … as they came. */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** Resolves when the connection it came on is closed. */
  readonly closed: Promise<void>
}

/** How a provider answers one request. What is absent is as a well-behaved provider does it. */
export interface Script {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The body goes without a length. */
  readonly chunked?: boolean
  /** Sizes of the pieces that the body is sent in, over and over; each piece is written by itself. */
  readonly pieces?: readonly number[]
  /** After so many bytes of the body the connection is cut. */
  readonly cut_at?: number
  /** After so many bytes of the body nothing more comes. */
  readonly stall_at?: number
  /** Nothing is answered at all. */
  readonly silent?: boolean
  /** The connection is reset instead of an answer. */
  readonly reset?: boolean
  /** The exact bytes of the answer, head included; the connection then ends. */
  readonly raw?: string | Uint8Array
  /** Waits before it answers. */
  readonly until?: Promise<unknown>
}

/** A provider on loopback that does as it is told. */
export class FakeProvider {
  readonly requests: ReceivedRequest[] = []
  readonly #scripts: Script[] = []
  readonly #waiting: ((request: ReceivedRequest) => void)[] = []
  readonly #sockets = new Set<Socket>()
  /** One promise a connection, however many requests come on it. */
  readonly #closed = new WeakMap<Socket, Promise<void>>()
  readonly #server = createServer((request, response) => void this.#take(request, response))
  /** Connections made so far. */
  connections = 0

  constructor() {
    this.#server.on('connection', (socket: Socket) => {
      this.connections++
      this.#sockets.add(socket)
      socket.on('error', () => {})
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#closed.set(socket, promise)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        resolve()
      })
    })
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }
  /** How the next requests are answered, one after another; behind them, well. */
  script(...scripts: readonly Script[]): this {
    this.#scripts.push(...scripts)
    return this
  }
  /** The next request that comes. */
  next(): Promise<ReceivedRequest> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
  get last(): ReceivedRequest {
    const request = this.requests.at(-1)
    if (request === undefined) throw new Error('the provider got no request')
    return request
  }
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = this.#closed.get(request.socket) ?? Promise.resolve()
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    } catch {
      return // the client left before its body had come
    }
    const body = Buffer.concat(chunks)
    const received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.rawHeaders,
      body,
      closed,
    }
    this.requests.push(received)
    this.#waiting.shift()?.(received)
    await this.#answer(received, response, this.#scripts.shift() ?? {})
  }

  async #answer({ path, body }: ReceivedRequest, response: ServerResponse, script: Script): Promise<void> {
    await script.until
    const { socket } = response
    if (socket === null || script.silent === true) return
    if (script.reset === true) socket.resetAndDestroy()
    else if (script.raw !== undefined) socket.end(script.raw)
    else await this.#speak(response, socket, script, replyTo(path, body.toString()))
  }

  async #speak(response: ServerResponse, socket: Socket, script: Script, reply: WholeReply): Promise<void> {
    const bytes = Buffer.from(script.body ?? reply.body)
    const streams = script.chunked ?? isStream(reply, script)
    response.writeHead(script.status ?? 200, {
      'content-type': reply.type,
      ...(streams ? {} : { 'content-length': bytes.length }),
      'x-request-id': 'req_up',
      ...script.headers,
    })
    const end = script.cut_at ?? script.stall_at ?? bytes.length
    await writePieces(response, bytes.subarray(0, end), script.pieces)
    if (script.cut_at !== undefined) cut(response, socket)
    else if (script.stall_at === undefined) response.end()
  }
}

const isStream = ({ type }: WholeReply, { body }: Script): boolean =>
  (type === 'text/event-stream' || type === 'application/x-ndjson') && body === undefined

const writePieces = async (response: ServerResponse, bytes: Buffer, pieces: readonly number[] = []): Promise<void> => {
  response.flushHeaders()
  let at = 0
  for (let turn = 0; at < bytes.length; turn++) {
    const size = pieces[turn % Math.max(pieces.length, 1)] ?? bytes.length
    const { promise, resolve } = Promise.withResolvers<void>()
    response.write(bytes.subarray(at, at + size), () => resolve())
    at += size
    // each piece is on its way before the next, so that it can arrive by itself
    await promise
    await new Promise(setImmediate)
  }
}

/** What was written arrives; then the connection ends without the end of the reply. */
const cut = (response: ServerResponse, socket: Socket): void => {
  if (response.writableLength === 0) socket.destroySoon()
  else response.once('drain', () => socket.destroySoon())
}

/** A provider that listens on a port of the system's choice. */
export const fakeProvider = (): Promise<FakeProvider> => new FakeProvider().listen()
