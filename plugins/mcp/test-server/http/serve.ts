import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { messageEvent } from '#lib/sse'
import { type Exchange, Failure, failure, readMessage } from '../message.ts'
import { speaks } from '../methods.ts'
import type { TestServer } from '../server.ts'
import { TestSession } from '../session.ts'

/** A test server that listens. */
export interface ServedHttp {
  readonly url: string
  close(): Promise<void>
}

/** Serves clients over Streamable HTTP on this machine. Rejects with the system's error if the port is taken. */
export const serveHttp = async (server: TestServer, port: number): Promise<ServedHttp> => {
  const endpoint = new HttpEndpoint(server)
  const http = process
    .getBuiltinModule('node:http')
    .createServer((request, response) => void endpoint.take(request, response))
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        endpoint.end()
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

class HttpEndpoint {
  readonly #server: TestServer
  readonly #sessions = new Map<string, HttpSession>()

  constructor(server: TestServer) {
    this.#server = server
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const refused = checkHead(request) ?? (await this.#taken(request, response))
      if (refused !== undefined) refuse(response, refused)
    } catch {
      response.destroy()
    }
  }

  end(): void {
    for (const session of this.#sessions.values()) session.end()
  }

  async #taken(request: IncomingMessage, response: ServerResponse): Promise<Refused | undefined> {
    const id = request.headers['mcp-session-id']
    const session = typeof id === 'string' ? this.#sessions.get(id) : undefined
    if (request.method === 'POST') return this.#posted(request, response, session)
    if (session === undefined) return noSession(id)
    if (request.method === 'GET') {
      const last = request.headers['last-event-id']
      const listens = session.listen(response, typeof last === 'string' ? last : undefined)
      return listens ? undefined : { status: 400, message: 'There is no such event.' }
    }
    if (request.method !== 'DELETE') return { status: 405, message: 'Use GET, POST or DELETE.' }
    this.#sessions.delete(String(id))
    session.end()
    response.writeHead(200).end()
    return undefined
  }

  async #posted(
    request: IncomingMessage,
    response: ServerResponse,
    found: HttpSession | undefined,
  ): Promise<Refused | undefined> {
    const message = readMessage((await buffer(request)).toString())
    if (message === undefined) return { status: 400, message: 'This is no message.' }
    const begins = message.method === 'initialize' && message.id !== undefined
    const session = begins ? this.#begin(response) : found
    if (session === undefined) return noSession(request.headers['mcp-session-id'])
    if (message.id === undefined || message.method === undefined) response.writeHead(202).end()
    await session.session.take(message, session.exchange(response, message.method))
    return undefined
  }

  #begin(response: ServerResponse): HttpSession {
    const id = randomUUID()
    const session = new HttpSession(this.#server)
    this.#sessions.set(id, session)
    response.setHeader('mcp-session-id', id)
    return session
  }
}

const noSession = (id: unknown): Refused =>
  id === undefined
    ? { status: 400, message: 'Mcp-Session-Id is missing.' }
    : { status: 404, message: 'There is no such session.' }

const refuse = (response: ServerResponse, { status, message }: Refused): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(failure(null, new Failure(-32000, message)))
}

/** Why a request is refused: HTTP status and words. */
interface Refused {
  readonly status: number
  readonly message: string
}

const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i

const isLocal = ({ headers: { host = '', origin } }: IncomingMessage): boolean =>
  LOCAL.test(host) && (origin === undefined || LOCAL.test(origin.replace(/^https?:\/\//, '')))

const accepts = ({ headers: { accept = '' } }: IncomingMessage, ...types: readonly string[]): boolean =>
  accept.includes('*/*') || types.every((type) => accept.includes(type))

/** What is wrong with the head of a request; undefined if nothing. */
const checkHead = (request: IncomingMessage): Refused | undefined => {
  const { method, headers } = request
  if (!isLocal(request)) return { status: 403, message: 'Only this machine is served.' }
  if (method === 'POST' && !headers['content-type']?.startsWith('application/json'))
    return { status: 415, message: 'A message is application/json.' }
  if (method === 'POST' && !accepts(request, 'application/json', 'text/event-stream'))
    return { status: 406, message: 'Accept must name application/json and text/event-stream.' }
  if (method === 'GET' && !accepts(request, 'text/event-stream'))
    return { status: 406, message: 'Accept must name text/event-stream.' }
  const version = headers['mcp-protocol-version']
  if (version !== undefined && !speaks(String(version)))
    return { status: 400, message: 'This revision of MCP is not spoken.' }
  return undefined
}

const NOISE = ': noise\n\nevent: noise\ndata: this is no message\n\n'
const ASIDE = 'aside'

/** One client over HTTP, with its streams by name. */
class HttpSession {
  readonly session: TestSession
  readonly #streams = new Map<string, ResumableStream>()
  #opened = 0

  constructor(server: TestServer) {
    this.session = new TestSession(server)
  }

  /** The way back for one request: JSON if the answer comes first, else a stream; lists of tools always come as a stream. */
  exchange(response: ServerResponse, method: string | undefined): Exchange {
    let stream: ResumableStream | undefined
    const streamed = (): ResumableStream => {
      if (stream === undefined) {
        stream = this.#stream(`call${++this.#opened}`)
        stream.open(response, -1)
      }
      return stream
    }
    const noisy = this.session.server.misbehave === 'noise'
    const plain = !noisy && method !== 'tools/list'
    return {
      send(json, last) {
        if (last && stream === undefined && plain) {
          response.writeHead(200, { 'content-type': 'application/json' }).end(json)
          return
        }
        const way = streamed()
        if (noisy) way.scribble(NOISE)
        way.send(json)
        if (last) way.end()
      },
      release: () => streamed().letGo(),
      drop: () => void response.destroy(),
    }
  }

  /** Opens the client's own stream, or resumes one after an event; false if there is no such event. */
  listen(response: ServerResponse, lastEventId: string | undefined): boolean {
    if (lastEventId === undefined) {
      this.#stream(ASIDE).open(response, -1)
      return true
    }
    const [, name = '', index = ''] = /^(.*)-(\d+)$/.exec(lastEventId) ?? []
    const stream = this.#streams.get(name)
    stream?.open(response, Number(index))
    return stream !== undefined
  }

  end(): void {
    this.session.end()
    for (const stream of this.#streams.values()) stream.end()
  }

  #stream(name: string): ResumableStream {
    const stream = new ResumableStream(name)
    this.#streams.set(name, stream)
    return stream
  }
}

const RETRY_MS = 100

/** A stream of events that can be taken up again: every event is kept, with its number. */
class ResumableStream {
  readonly name: string
  readonly #events: string[] = []
  #response: ServerResponse | undefined
  #ended = false

  constructor(name: string) {
    this.name = name
  }

  /** Sends the stream to a client, from after the event of this number on. */
  open(response: ServerResponse, behind: number): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    this.#response = response
    response.once('close', () => {
      if (this.#response === response) this.#response = undefined
    })
    if (behind < 0) this.#prime()
    for (const event of this.#events.slice(behind + 1)) response.write(event)
    if (this.#ended) response.end()
  }

  /** The first event is empty: it gives the client an id to come back with. */
  #prime(): void {
    this.#keep(`retry: ${RETRY_MS}\ndata: \n\n`)
  }

  /** Buffers an event; without a listener `open` sends it later. */
  #keep(event: string): void {
    this.#events.push(`id: ${this.name}-${this.#events.length}\n${event}`)
  }

  send(json: string): void {
    this.#keep(messageEvent(json))
    this.#response?.write(this.#events.at(-1))
  }

  /** Writes what is no event. */
  scribble(text: string): void {
    this.#response?.write(text)
  }

  /** Closes the connection; what is sent from now on is kept. */
  letGo(): void {
    this.#response?.end()
    this.#response = undefined
  }

  /** Nothing follows. */
  end(): void {
    this.#ended = true
    this.letGo()
  }

  /** Breaks the connection. */
  destroy(): void {
    this.#response?.destroy()
  }
}
