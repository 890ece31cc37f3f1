import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { headerOf } from 'guard-gateway/core'
import { type Frame, type FrameFault, readFrame } from 'guard-gateway/lib/json-rpc'
import type { Lost, McpReply, McpServer, McpSession, PassedHeaders } from 'guard-gateway/lib/mcp-transport'
import { EventReader, type RawEvent } from 'guard-gateway/lib/sse'
import type { Exchange, UpstreamResponse } from 'guard-gateway/lib/upstream-client'
import { ChunkQueue } from '../chunk-queue.ts'
import { contentEncoding, failureOf } from '../error-response.ts'
import { RequestHeaders } from '../headers.ts'
import { sendRequest } from '../request.ts'
import { serverAddress } from '../server-address.ts'
import { withLogin } from '../with-login.ts'
import { endpointPath } from './endpoint.ts'

/** How long a server may take to say where it takes messages. */
const ENDPOINT_MS = 10_000

/** What a stream brings. */
export interface StreamEvents {
  onFrame(frame: Frame): void
  onFault(fault: FrameFault): void
}

/** A message that a server has not taken. */
export interface Refused {
  readonly reply: McpReply
  readonly gone: boolean
}

/** The server opened no stream; the client is told why. */
export class NoStream extends Error {
  readonly reply: McpReply
  constructor(reply: McpReply) {
    super('There is no stream.')
    this.reply = reply
  }
}

/** One stream of a server of HTTP+SSE, and the endpoint for messages that it named. */
export class OlderStream {
  /** Resolves when it has ended. */
  readonly lost: Promise<Lost>
  ended = false
  readonly #server: McpServer
  readonly #session: McpSession
  readonly #headers: RequestHeaders
  readonly #target: URL
  readonly #events: StreamEvents
  readonly #waiting = new Set<Exchange>()
  readonly #endpoint = Promise.withResolvers<string>()
  #chunks: ChunkQueue | undefined
  #path = ''
  #first = true
  #gate: PromiseWithResolvers<void> | undefined
  readonly #lose: (lost: Lost) => void

  private constructor(server: McpServer, session: McpSession, events: StreamEvents) {
    this.#server = server
    this.#session = session
    this.#events = events
    this.#target = new URL(server.target ?? '')
    this.#headers = new RequestHeaders(serverAddress(server).host, server.headers)
    const { promise, resolve } = Promise.withResolvers<Lost>()
    this.lost = promise
    this.#lose = resolve
  }

  /** Opens a stream, and waits until the server has named its endpoint. Rejects with NoStream where there is no stream, with Error where it is of no use, and with NoResponse. */
  static async open(
    server: McpServer,
    session: McpSession,
    events: StreamEvents,
    passed: PassedHeaders,
  ): Promise<OlderStream> {
    const stream = new OlderStream(server, session, events)
    const { path } = serverAddress(server)
    const headers = stream.#headers.get(passed, { version: undefined, id: undefined }, undefined)
    const response = await stream.#send('GET', path, headers, undefined)
    const isStream =
      response.status === 200 && headerOf(response.headers, 'content-type')?.startsWith('text/event-stream')
    if (isStream !== true || contentEncoding(response) !== undefined) {
      discard(response)
      throw new NoStream(failureOf(response, server.id, true))
    }
    stream.#begin(response)
    const late = setTimeout(
      () => stream.#refuse(new Error('The MCP server did not say where it takes messages.')),
      ENDPOINT_MS,
    )
    try {
      stream.#path = await stream.#endpoint.promise
    } finally {
      clearTimeout(late)
    }
    return stream
  }

  /** Hands over a message; gives the error if the server does not take it: `gone` where it knows the session no more, and has done nothing. Rejects with NoResponse. */
  async post(message: Buffer, passed: PassedHeaders): Promise<Refused | undefined> {
    const response = await this.#send('POST', this.#path, this.#headers.post(passed, undefined), message)
    discard(response)
    const { status } = response
    if (status >= 200 && status < 300) return undefined
    return { reply: failureOf(response, this.#server.id, false), gone: status === 404 || status === 410 }
  }

  pause(): void {
    this.#gate ??= Promise.withResolvers<void>()
  }

  resume(): void {
    this.#gate?.resolve()
    this.#gate = undefined
  }

  close(reason: string): void {
    for (const exchange of this.#waiting) exchange.stop(new Error(reason))
    this.#chunks?.stop(new Error(reason))
    this.resume()
    this.#lose({ reason })
  }

  #send(method: 'GET' | 'POST', path: string, headers: readonly string[], body: Buffer | undefined) {
    const connections = this.#session.connect(serverAddress(this.#server).address)
    return withLogin(this.#session.login, (authorization) => {
      const all = authorization === undefined ? headers : [...headers, 'authorization', authorization]
      return sendRequest(connections, { method, path, headers: all, body }, this.#server.timeout_ms, this.#waiting)
    })
  }

  #begin({ body }: UpstreamResponse): void {
    // refused before anybody waits for it
    this.#endpoint.promise.catch(() => {})
    void this.#read(body).then(
      () => this.#end('The MCP server closed its stream'),
      (error: Error) => this.#end(error.message.replace(/\.$/, ''), error),
    )
  }

  async #read(body: UpstreamResponse['body']): Promise<void> {
    const reader = new EventReader(this.#session.frame_bytes, (event) => this.#take(event))
    if (body instanceof Uint8Array) return reader.push(Buffer.from(body))
    const chunks = new ChunkQueue(body, () => {})
    this.#chunks = chunks
    for await (const chunk of chunks.begin().read()) {
      reader.push(chunk)
      if (this.#gate !== undefined) await this.#gate.promise
    }
  }

  #take({ raw, data }: RawEvent): void {
    if (this.#first) {
      const named = namedEndpoint(raw)
      // comments may come before it
      if (named === undefined && data.length === 0) return
      this.#first = false
      if (named === undefined) throw new Error('The MCP server did not begin its stream with the event "endpoint".')
      this.#endpoint.resolve(endpointPath(named, this.#target))
    } else if (data.length > 0) {
      const frame = readFrame(data, 'server')
      if (frame.kind === 'fault') this.#events.onFault(frame)
      else this.#events.onFrame(frame)
    }
  }

  #refuse(error: Error): void {
    this.#endpoint.reject(error)
    this.#chunks?.stop(error)
  }

  #end(reason: string, error = new Error(`${reason}.`)): void {
    this.ended = true
    this.#endpoint.reject(error)
    this.#lose({ reason })
  }
}

/** What an event `endpoint` names; undefined for any other event. */
const namedEndpoint = (raw: Buffer): string | undefined => {
  const events: EventSourceMessage[] = []
  createParser({ onEvent: (event) => events.push(event) }).feed(raw.toString())
  return events.find(({ event }) => event === 'endpoint')?.data
}

const discard = ({ body }: UpstreamResponse): void => {
  if (!(body instanceof Uint8Array)) body.destroy()
}
