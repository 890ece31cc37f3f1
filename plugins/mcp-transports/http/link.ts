import { headerOf, type ReplyBody } from 'guard-gateway/core'
import { type Frame, readFrame } from 'guard-gateway/lib/json-rpc'
import type { Lost, McpLink, McpReply, McpServer, McpSession, PassedHeaders } from 'guard-gateway/lib/mcp-transport'
import type { Connections, Exchange, UpstreamResponse } from 'guard-gateway/lib/upstream-client'
import { ChunkQueue } from './chunk-queue.ts'
import { clientStatus, contentEncoding, failureOf, isUnknownSession } from './error-response.ts'
import { RequestHeaders, SESSION_ID } from './headers.ts'
import { failed, replyWithout } from './no-reply.ts'
import { SessionEnded, sendRequest } from './request.ts'
import { bodyOf, eventsIn, eventsOf } from './response-body.ts'
import { serverAddress } from './server-address.ts'
import { withLogin } from './with-login.ts'

const END_MS = 5_000
/** What servers of HTTP+SSE answer to a POST at the address of their stream. */
const OLDER: ReadonlySet<number> = new Set([400, 404, 405])
const PRINTABLE = /^[\x21-\x7e]{1,1024}$/

/** The way to a server over Streamable HTTP, with a session of its own there. */
export class HttpLink implements McpLink {
  readonly lost: Promise<Lost>
  /** It refused `initialize` as a server does that knows the transport before this one alone. */
  mayBeOlder = false
  readonly #server: McpServer
  readonly #session: McpSession
  readonly #connections: Connections
  readonly #path: string
  readonly #headers: RequestHeaders
  /** Requests that wait for their answers. */
  readonly #waiting = new Set<Exchange>()
  /** Bodies that have not come to their end. */
  readonly #open = new Set<ChunkQueue>()
  readonly #lose: (lost: Lost) => void
  /** The server's own name for the session; the client never sees it. */
  #id: string | undefined
  #ended = false

  constructor(server: McpServer, session: McpSession) {
    const { address, host, path } = serverAddress(server)
    this.#server = server
    this.#session = session
    this.#connections = session.connect(address)
    this.#path = path
    this.#headers = new RequestHeaders(host, server.headers)
    const { promise, resolve } = Promise.withResolvers<Lost>()
    this.lost = promise
    this.#lose = resolve
  }

  async post(frame: Frame, passed: PassedHeaders = {}): Promise<McpReply> {
    try {
      const headers = this.#headers.post(passed, frame.method === 'initialize' ? undefined : this.#known())
      const response = await this.#sendRequest('POST', headers, frame.raw)
      return await this.#answered(response, frame)
    } catch (error) {
      return replyWithout(error)
    }
  }

  async listen(lastEventId?: string, passed: PassedHeaders = {}): Promise<McpReply> {
    try {
      const response = await this.#sendRequest('GET', this.#headers.get(passed, this.#known(), lastEventId), undefined)
      if (response.status === 200 && typeOf(response) === 'text/event-stream') return this.#stream(response.body)
      if (response.status !== 405 && response.status !== 409) return await this.#failed(response, undefined)
      this.#drain(response.body)
      if (response.status === 405) return { form: 'none', status: 405 }
      return { ...failed('The MCP server has a stream open for this session already.'), status: 409 }
    } catch (error) {
      return replyWithout(error)
    }
  }

  async end(): Promise<void> {
    this.#ended = true
    const ended = new SessionEnded()
    this.#lose({ reason: ended.message })
    // the answer to `initialize` may name a session of the server's that is to be ended, too
    const waiting = this.#session.protocol_version === undefined ? [] : this.#waiting
    for (const open of [...waiting, ...this.#open]) open.stop(ended)
    if (this.#id === undefined) return
    const headers = this.#headers.end(this.#known())
    this.#id = undefined
    try {
      const { body } = await this.#sendRequest('DELETE', headers, undefined, END_MS)
      this.#drain(body)
    } catch {
      // over here the session is over, whatever the server makes of it
    }
  }

  #known() {
    return { version: this.#session.protocol_version, id: this.#id }
  }

  #sendRequest(
    method: 'POST' | 'GET' | 'DELETE',
    headers: readonly string[],
    body: Buffer | undefined,
    timeout_ms = this.#server.timeout_ms,
  ): Promise<UpstreamResponse> {
    return withLogin(this.#session.login, (authorization) => {
      const all = authorization === undefined ? headers : [...headers, 'authorization', authorization]
      const request = { method, path: this.#path, headers: all, body }
      return sendRequest(this.#connections, request, timeout_ms, this.#waiting)
    })
  }

  #answered(response: UpstreamResponse, frame: Frame): McpReply | Promise<McpReply> {
    const { status } = response
    if (status < 200 || status > 299) return this.#failed(response, frame)
    const packed = contentEncoding(response)
    if (packed !== undefined && frame.kind === 'request') {
      discard(response.body)
      return failed(`The MCP server packed its answer (content-encoding: ${packed}), which it was asked not to do.`)
    }
    if (frame.method === 'initialize') {
      this.#id = sessionIdOf(response)
      if (this.#ended) void this.end()
    }
    if (frame.kind !== 'request') {
      this.#drain(response.body)
      return { form: 'none', status: 202 }
    }
    const type = typeOf(response)
    if (type === 'text/event-stream') return this.#stream(response.body)
    if (type === 'application/json') return this.#single(response, status)
    discard(response.body)
    return failed(`The MCP server answered with the content type "${printable(type)}".`)
  }

  #single({ body }: UpstreamResponse, status: number): McpReply | Promise<McpReply> {
    const whole = this.#whole(body)
    return whole instanceof Promise ? whole.then((bytes) => message(bytes, status)) : message(whole, status)
  }

  /** A server may say in JSON-RPC what is wrong with a request; then the client gets to read it. */
  async #errorIn(response: UpstreamResponse, asked: Frame | undefined): Promise<Frame | undefined> {
    if (asked === undefined || contentEncoding(response) !== undefined) return void discard(response.body)
    try {
      const frame = readFrame(await this.#whole(response.body), 'server')
      return frame.kind === 'response' && frame.error !== undefined ? frame : undefined
    } catch {
      return undefined
    }
  }

  #whole(body: ReplyBody): Buffer | Promise<Buffer> {
    return bodyOf(this.#opened(body), this.#session.frame_bytes, this.#server.timeout_ms)
  }

  /** Drains a response, so that the connection can be used again. */
  #drain(body: ReplyBody): void {
    if (body instanceof Uint8Array) return
    Promise.resolve(this.#whole(body)).catch(() => {})
  }

  #stream(body: ReplyBody): McpReply {
    const opened = this.#opened(body)
    const limit = this.#session.frame_bytes
    if (opened instanceof ChunkQueue)
      return { form: 'sse', events: eventsOf(opened.read(), limit), stop: () => opened.stop() }
    // a message that is too large may follow others that are not
    const events = opened.length > limit ? eventsOf([opened], limit) : eventsIn(opened, limit)
    return { form: 'sse', events, stop: () => {} }
  }

  /** What is not over yet ends with the session. */
  #opened(body: ReplyBody): Buffer | ChunkQueue {
    if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.length)
    const chunks = new ChunkQueue(body, () => this.#open.delete(chunks))
    this.#open.add(chunks)
    return chunks.begin()
  }

  async #failed(response: UpstreamResponse, asked: Frame | undefined): Promise<McpReply> {
    const { status } = response
    const frame = status === 401 || status === 403 ? void discard(response.body) : await this.#errorIn(response, asked)
    // it knows the session and not the method
    const isAnswer = frame?.key !== undefined && frame.key === asked?.key && !isUnknownSession(frame)
    if (status === 404 && this.#id !== undefined && !isAnswer) return this.#over()
    const answered = clientStatus(status)
    if (frame !== undefined && answered !== undefined && (status !== 404 || isAnswer))
      return { form: 'json', status: answered, event: { frame } }
    const isFirst = asked?.method === 'initialize'
    this.mayBeOlder = isFirst && OLDER.has(status)
    return failureOf(response, this.#server.id, isFirst)
  }

  #over(): McpReply {
    this.#id = undefined
    const message = 'The MCP server has ended the session. Initialize again.'
    this.#lose({ reason: message })
    return { form: 'failed', status: 404, code: 'MCP_SESSION_NOT_FOUND', message }
  }
}

const message = (bytes: Buffer, status: number): McpReply => {
  const frame = readFrame(bytes, 'server')
  if (frame.kind === 'fault') return failed(`The MCP server sent no usable message: ${frame.message}`)
  return { form: 'json', status, event: { frame } }
}

/** The essence of a response's content type. */
const typeOf = ({ headers }: UpstreamResponse): string =>
  (headerOf(headers, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** The session id of a server; undefined if the header is there twice. */
const sessionIdOf = ({ headers }: UpstreamResponse): string | undefined => {
  const named = headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === SESSION_ID)
  const [id] = named
  return named.length === 1 && id !== undefined && PRINTABLE.test(id) ? id : undefined
}

const discard = (body: ReplyBody): void => {
  if (!(body instanceof Uint8Array)) body.destroy()
}

const printable = (type: string): string => type.replace(/[^\x21-\x7e]/g, '').slice(0, 100)
