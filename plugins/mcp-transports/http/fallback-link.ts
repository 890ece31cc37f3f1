import { headerOf, type ReplyBody } from 'guard-gateway/core'
import type {
  Lost,
  McpLink,
  McpReply,
  McpServer,
  McpSession,
  PassedHeaders,
  StreamEvent,
} from 'guard-gateway/lib/mcp-transport'
import type { Connections, Exchange, UpstreamResponse } from 'guard-gateway/lib/upstream-client'
import { type Frame, readFrame } from '#lib/json-rpc'
import { EventReader, type RawEvent } from '#lib/sse'
import { ChunkQueue } from './chunk-queue.ts'
import { clientStatus, contentEncoding, failureOf, isUnknownSession } from './error-response.ts'
import { RequestHeaders, SESSION_ID } from './headers.ts'
import { failed, replyWithout } from './no-reply.ts'
import { SessionEnded, sendRequest } from './request.ts'
import { serverAddress } from './server-address.ts'
import { withLogin } from './with-login.ts'

/** The way to a server over HTTP: Streamable HTTP, or HTTP+SSE for `transport: sse` and for a server that knows nothing newer. */
export const openHttpLink = async (server: McpServer, session: McpSession): Promise<McpLink> =>
  server.transport === 'sse' ? olderLink(server, session) : new FallbackLink(server, session)

const olderLink = async (server: McpServer, session: McpSession) => {
  const { OlderLink } = await import('./older/link.ts')
  return new OlderLink(server, session)
}

/** Tries Streamable HTTP first, as the specification says: a server that refuses `initialize` with 400, 404 or 405 may speak HTTP+SSE. */
class FallbackLink implements McpLink {
  readonly #lost = Promise.withResolvers<Lost>()
  readonly lost = this.#lost.promise
  readonly #server: McpServer
  readonly #session: McpSession
  readonly #http: HttpLink
  #link: McpLink

  constructor(server: McpServer, session: McpSession) {
    this.#server = server
    this.#session = session
    this.#http = new HttpLink(server, session)
    this.#link = this.#http
    this.#follow(this.#http)
  }

  post(frame: Frame, passed?: PassedHeaders): Promise<McpReply> {
    const reply = this.#link.post(frame, passed)
    return frame.method === 'initialize' && this.#link === this.#http ? this.#begun(reply, frame, passed) : reply
  }

  listen(lastEventId?: string, passed?: PassedHeaders): Promise<McpReply> {
    return this.#link.listen(lastEventId, passed)
  }

  end(): Promise<void> {
    return this.#link.end()
  }

  async #begun(first: Promise<McpReply>, frame: Frame, passed?: PassedHeaders): Promise<McpReply> {
    const reply = await first
    if (!this.#http.mayBeOlder) return reply
    const older = await olderLink(this.#server, this.#session)
    const second = await older.post(frame, passed)
    if (!older.isSpoken) {
      await older.end()
      return second.form === 'failed' && second.code === 'MCP_LOGIN_NEEDED' ? second : reply
    }
    this.#link = older
    this.#follow(older)
    return second
  }

  #follow(link: McpLink): void {
    void link.lost.then((lost) => {
      if (this.#link === link) this.#lost.resolve(lost)
    })
  }
}

const END_MS = 5_000
/** What servers of HTTP+SSE answer to a POST at the address of their stream. */
const OLDER: ReadonlySet<number> = new Set([400, 404, 405])
const PRINTABLE = /^[\x21-\x7e]{1,1024}$/

/** The way to a server over Streamable HTTP, with a session of its own there. */
class HttpLink implements McpLink {
  readonly #lost = Promise.withResolvers<Lost>()
  readonly lost = this.#lost.promise
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
    this.#lost.resolve({ reason: ended.message })
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
  async #errorIn(response: UpstreamResponse, request: Frame | undefined): Promise<Frame | undefined> {
    if (request === undefined || contentEncoding(response) !== undefined) return void discard(response.body)
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

  async #failed(response: UpstreamResponse, request: Frame | undefined): Promise<McpReply> {
    const { status } = response
    const frame =
      status === 401 || status === 403 ? void discard(response.body) : await this.#errorIn(response, request)
    // it knows the session and not the method
    const isAnswer = frame?.key !== undefined && frame.key === request?.key && !isUnknownSession(frame)
    if (status === 404 && this.#id !== undefined && !isAnswer) return this.#over()
    const answered = clientStatus(status)
    if (frame !== undefined && answered !== undefined && (status !== 404 || isAnswer))
      return { form: 'json', status: answered, event: { frame } }
    const isFirst = request?.method === 'initialize'
    this.mayBeOlder = isFirst && OLDER.has(status)
    return failureOf(response, this.#server.id, isFirst)
  }

  #over(): McpReply {
    this.#id = undefined
    const message = 'The MCP server has ended the session. Initialize again.'
    this.#lost.resolve({ reason: message })
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

/** The whole body, at once where it is there; throws or rejects if it is larger than `limit` bytes, breaks off, or is not there in time. */
const bodyOf = (body: Buffer | ChunkQueue, limit: number, timeout_ms: number): Buffer | Promise<Buffer> => {
  if (body instanceof ChunkQueue) return gathered(body, limit, timeout_ms)
  checkSize(body.length, limit)
  return body
}

const gathered = async (body: ChunkQueue, limit: number, timeout_ms: number): Promise<Buffer> => {
  const late = setTimeout(() => body.stop(new Error('The answer did not end in time.')), timeout_ms)
  const taken: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body.read()) {
      length += chunk.length
      checkSize(length, limit)
      taken.push(chunk)
    }
  } finally {
    clearTimeout(late)
  }
  return Buffer.concat(taken, length)
}

const checkSize = (length: number, limit: number): void => {
  if (length > limit) throw new RangeError(`The answer is larger than ${limit} bytes.`)
}

/** The messages of an event stream that is there to its end. Throws RangeError for one of more than `limit` bytes. */
const eventsIn = (body: Buffer, limit: number): readonly StreamEvent[] => {
  const events: StreamEvent[] = []
  new EventReader(limit, (event) => events.push(streamEvent(event))).push(body)
  return events
}

/** The messages of an event stream as they come; nothing is read far ahead of who takes them. Throws where the stream breaks off. */
async function* eventsOf(chunks: AsyncIterable<Buffer> | Iterable<Buffer>, limit: number): AsyncGenerator<StreamEvent> {
  const ready: RawEvent[] = []
  const reader = new EventReader(limit, (event) => ready.push(event))
  for await (const chunk of chunks) {
    const fault = faultOf(() => reader.push(chunk))
    for (const event of ready) yield streamEvent(event)
    ready.length = 0
    if (fault !== undefined) throw fault
  }
}

const faultOf = (work: () => void): unknown => {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}

const streamEvent = ({ raw, data, identified }: RawEvent): StreamEvent => {
  const about = { raw, resumable: identified }
  if (data.length === 0) return about
  const frame = readFrame(data, 'server')
  return frame.kind === 'fault' ? { ...about, fault: frame } : { ...about, frame }
}
