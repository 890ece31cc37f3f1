import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Failure, failure, readMessage } from '../message.ts'
import type { TestServer } from '../server.ts'
import { checkHead, type Refused } from './checks.ts'
import { HttpSession } from './session.ts'

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
