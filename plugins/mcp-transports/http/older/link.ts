import { headerOf } from 'guard-gateway/core'
import {
  type Lost,
  type McpLink,
  type McpReply,
  type McpServer,
  type McpSession,
  type PassedHeaders,
  ServerChannel,
  SessionSetup,
} from 'guard-gateway/lib/mcp-transport'
import { terminalLine } from 'guard-gateway/lib/text'
import type { Exchange, UpstreamResponse } from 'guard-gateway/lib/upstream-client'
import { cancelledKey, type Frame, type FrameFault, readFrame } from '#lib/json-rpc'
import { EventReader, eventTexts, type RawEvent } from '#lib/sse'
import { ChunkQueue } from '../chunk-queue.ts'
import { contentEncoding, failureOf } from '../error-response.ts'
import { RequestHeaders } from '../headers.ts'
import { replyWithout } from '../no-reply.ts'
import { sendRequest } from '../request.ts'
import { serverAddress } from '../server-address.ts'
import { withLogin } from '../with-login.ts'

type Failed = McpReply & { form: 'failed' }

/**
 * The way to a server over HTTP+SSE, the transport of the revision 2024-11-05: one stream for all that it says, and an endpoint for messages.
 * Nothing in the stream can be asked for again: where it breaks off, what waits fails, and the next message opens another one and sets the session up anew.
 */
export class OlderLink implements McpLink {
  readonly #lost = Promise.withResolvers<Lost>()
  readonly lost = this.#lost.promise
  /** The server has named an endpoint: it speaks this transport. */
  isSpoken = false
  readonly #server: McpServer
  readonly #session: McpSession
  readonly #setup = new SessionSetup()
  readonly #channel: ServerChannel
  #stream: OlderStream | undefined
  #opening: Promise<void> | undefined
  #over = false

  constructor(server: McpServer, session: McpSession) {
    this.#server = server
    this.#session = session
    this.#channel = new ServerChannel(session, {
      pause: () => this.#stream?.pause(),
      resume: () => this.#stream?.resume(),
      consumes: (frame) => this.#setup.consumes(frame),
    })
  }

  async post(frame: Frame, passed: PassedHeaders = {}): Promise<McpReply> {
    try {
      const first = await this.#opened(passed)
      const done = await this.#sent(first, frame, passed)
      if (!('gone' in done)) return done
      if (!done.gone || !this.#setup.isComplete) return done.reply
      // the stream has broken off, and that was not heard of before
      this.#streamLost(first, { reason: 'The MCP server knows the session no more' })
      first.close('The MCP server knows the session no more')
      const again = await this.#sent(await this.#opened(passed), frame, passed)
      return 'gone' in again ? again.reply : again
    } catch (error) {
      return error instanceof NoStream ? error.reply : replyWithout(error)
    }
  }

  /** Sends a message, and waits for the answer to a request. */
  async #sent(stream: OlderStream, frame: Frame, passed: PassedHeaders): Promise<McpReply | Refused> {
    this.#setup.note(frame)
    if (frame.kind !== 'request' || this.#session.merged) return this.#forward(stream, frame, passed)
    const exchange = this.#channel.begin(frame)
    // an answer that is there already counts
    const isOpen = () => this.#channel.take(exchange.key) === exchange
    const refused = await stream.post(frame.raw, passed).catch((error: unknown) => {
      if (isOpen()) throw error
    })
    return refused !== undefined && isOpen() ? refused : exchange.reply
  }

  async listen(lastEventId?: string, passed: PassedHeaders = {}): Promise<McpReply> {
    // nothing here has an id, so nothing can be asked for again
    if (lastEventId !== undefined) return { form: 'none', status: 405 }
    const reply = this.#channel.listen()
    if (reply.form === 'sse') await this.#opened(passed).catch(() => {})
    return reply
  }

  async end(): Promise<void> {
    this.#ended({ reason: 'The session has ended' })
  }

  async #forward(stream: OlderStream, frame: Frame, passed: PassedHeaders): Promise<McpReply | Refused> {
    const refused = await stream.post(frame.raw, passed)
    this.#channel.take(cancelledKey(frame) ?? '')?.cancel()
    return refused ?? { form: 'none', status: 202 }
  }

  /** The stream; where there is none any more, another one with the session set up. */
  async #opened(passed: PassedHeaders): Promise<OlderStream> {
    if (this.#stream === undefined && !this.#over) {
      this.#opening ??= this.#open(passed).finally(() => {
        this.#opening = undefined
      })
    }
    await this.#opening
    if (this.#over) throw new NoStream(failed(await this.lost))
    if (this.#stream === undefined) throw new Error('The MCP server closed its stream at once.')
    return this.#stream
  }

  async #open(passed: PassedHeaders): Promise<void> {
    const stream = await OlderStream.open(
      this.#server,
      this.#session,
      {
        onFrame: (frame) => this.#channel.message(frame),
        onFault: (fault) => this.#channel.invalidMessage(fault),
      },
      passed,
    ).catch((error: unknown) => {
      this.isSpoken ||= error instanceof OtherServer
      throw error
    })
    this.isSpoken = true
    void stream.lost.then((lost) => this.#streamLost(stream, lost))
    const refused = this.#setup.isComplete ? await this.#setup.replay(receiverOf(stream, passed)) : undefined
    if (refused !== undefined) {
      stream.close(refused)
      throw new Error(`The MCP server did not take the session up again: ${refused}.`)
    }
    if (this.#over) stream.close('The session has ended')
    else if (!stream.ended) this.#stream = stream
  }

  #streamLost(stream: OlderStream, lost: Lost): void {
    if (this.#stream !== stream) return
    this.#stream = undefined
    this.#channel.fail(failed({ reason: `${lost.reason} before it answered` }))
    // who has not even begun has nothing to take up
    if (!this.#setup.isComplete) this.#ended(lost)
  }

  #ended(lost: Lost): void {
    if (this.#over) return
    this.#over = true
    this.#channel.end(failed(lost))
    this.#stream?.close(lost.reason)
    this.#lost.resolve(lost)
  }
}

const receiverOf = (stream: OlderStream, passed: PassedHeaders) => ({
  lost: stream.lost,
  async send(message: Buffer): Promise<void> {
    const refused = await stream.post(message, passed)
    if (refused !== undefined) throw new NoStream(refused.reply)
  },
})

const failed = ({ reason }: Lost): Failed => ({
  form: 'failed',
  status: 502,
  code: 'UPSTREAM_UNREACHABLE',
  message: `${reason}.`,
})

/** How long a server may take to say where it takes messages. */
const ENDPOINT_MS = 10_000

/** What a stream brings. */
interface StreamEvents {
  onFrame(frame: Frame): void
  onFault(fault: FrameFault): void
}

/** A message that a server has not taken. */
interface Refused {
  readonly reply: McpReply
  readonly gone: boolean
}

/** The server opened no stream; the client is told why. */
class NoStream extends Error {
  readonly reply: McpReply
  constructor(reply: McpReply) {
    super('There is no stream.')
    this.reply = reply
  }
}

/** One stream of a server of HTTP+SSE, and the endpoint for messages that it named. */
class OlderStream {
  /** Resolves when it has ended. */
  readonly #lost = Promise.withResolvers<Lost>()
  readonly lost = this.#lost.promise
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

  private constructor(server: McpServer, session: McpSession, events: StreamEvents) {
    this.#server = server
    this.#session = session
    this.#events = events
    this.#target = new URL(server.target ?? '')
    this.#headers = new RequestHeaders(serverAddress(server).host, server.headers)
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
    this.#lost.resolve({ reason })
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
    this.#lost.resolve({ reason })
  }
}

/** What an event `endpoint` names; undefined for any other event. */
const namedEndpoint = (raw: Buffer): string | undefined => {
  const { event, data } = eventTexts(raw)
  return event === 'endpoint' ? data : undefined
}

const discard = ({ body }: UpstreamResponse): void => {
  if (!(body instanceof Uint8Array)) body.destroy()
}

const MAX_CHARS = 2_048

/** The endpoint is not the server's own. */
class OtherServer extends Error {}

/** Where a server of HTTP+SSE takes messages, by its event `endpoint`: the path of an address of its own. Throws OtherServer for any other. */
const endpointPath = (named: string, target: URL): string => {
  const url = named.length > MAX_CHARS ? null : URL.parse(named, target.href)
  if (url !== null && url.origin === target.origin && url.username === '' && url.password === '')
    return url.pathname + url.search
  const displayed = JSON.stringify(terminalLine(named.slice(0, 200)))
  throw new OtherServer(
    `The MCP server wants messages at ${displayed}, which is not at ${target.origin}. Nothing is sent to other servers.`,
  )
}
