import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Frame, Lost, McpLink, McpReply, McpServer, McpSession, PassedHeaders } from 'guard-gateway/core'
import { readFrame } from 'guard-gateway/core'
import { bodyOf, eventsOf, typeOf } from './body.ts'
import { type Asked, type Caller, callerOf, NoAnswer } from './request.ts'

const END_MS = 5_000
const PRINTABLE = /^[\x21-\x7e]{1,1024}$/

/** The way to a server over Streamable HTTP, with a session of its own there. */
export const openHttpLink = async (server: McpServer, session: McpSession): Promise<McpLink> =>
  new HttpLink(server, session)

class HttpLink implements McpLink {
  readonly lost: Promise<Lost>
  readonly #server: McpServer
  readonly #session: McpSession
  readonly #caller: Caller
  readonly #open = new Set<IncomingMessage>()
  readonly #lose: (lost: Lost) => void
  /** The server's own name for the session; the client never sees it. */
  #id: string | undefined

  constructor(server: McpServer, session: McpSession) {
    this.#server = server
    this.#session = session
    this.#caller = callerOf(server)
    const { promise, resolve } = Promise.withResolvers<Lost>()
    this.lost = promise
    this.#lose = resolve
  }

  async post(frame: Frame, passed: PassedHeaders = {}): Promise<McpReply> {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': frame.raw.length,
      ...this.#headers(passed, frame.method !== 'initialize'),
    }
    const timeout_ms = this.#server.timeout_ms
    return this.#ask({ method: 'POST', headers, body: frame.raw, timeout_ms }, (response) =>
      this.#answered(response, frame),
    )
  }

  async listen(lastEventId?: string, passed: PassedHeaders = {}): Promise<McpReply> {
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...this.#headers(passed, true),
    }
    return this.#ask({ method: 'GET', headers, timeout_ms: this.#server.timeout_ms }, async (response) => {
      if (response.statusCode === 200 && typeOf(response) === 'text/event-stream') return this.#stream(response)
      if (response.statusCode !== 405) return this.#refused(response)
      response.resume()
      return { form: 'none', status: 405 }
    })
  }

  async end(): Promise<void> {
    this.#lose({ reason: 'The session has ended.' })
    for (const response of this.#open) response.destroy()
    if (this.#id === undefined) return
    const headers = this.#headers({}, true)
    this.#id = undefined
    try {
      const response = await this.#caller.ask({ method: 'DELETE', headers, timeout_ms: END_MS })
      response.resume()
    } catch {
      // over here the session is over, whatever the server makes of it
    }
  }

  /** Headers are made, not copied: nothing that lets the client in anywhere goes along. */
  #headers(passed: PassedHeaders, known: boolean): OutgoingHttpHeaders {
    const { protocol_version: version } = this.#session
    return {
      'accept-encoding': 'identity',
      ...passed,
      ...(version === undefined || !known ? {} : { 'mcp-protocol-version': version }),
      ...(this.#id === undefined || !known ? {} : { 'mcp-session-id': this.#id }),
      ...this.#server.headers,
    }
  }

  async #ask(asked: Asked, read: (response: IncomingMessage) => Promise<McpReply>): Promise<McpReply> {
    try {
      return await read(await this.#caller.ask(asked))
    } catch (error) {
      if (error instanceof NoAnswer) {
        const status = error.code === 'UPSTREAM_TIMEOUT' ? 504 : 502
        return { form: 'failed', status, code: error.code, message: error.message }
      }
      return failed(`The answer of the MCP server cannot be used: ${(error as Error).message}`)
    }
  }

  async #answered(response: IncomingMessage, frame: Frame): Promise<McpReply> {
    const { statusCode: status = 0 } = response
    if (status === 400) return this.#badRequest(response)
    if (status < 200 || status > 299) return this.#refused(response)
    if (frame.method === 'initialize') this.#id = sessionIdOf(response)
    if (frame.kind !== 'request') {
      this.#keep(response).resume()
      return { form: 'none', status: 202 }
    }
    const type = typeOf(response)
    if (type === 'text/event-stream') return this.#stream(response)
    if (type === 'application/json') return this.#single(response, status)
    response.destroy()
    return failed(`The MCP server answered with the content type "${printable(type)}".`)
  }

  async #single(response: IncomingMessage, status: number): Promise<McpReply> {
    const frame = readFrame(await this.#body(response), 'server')
    if (frame.kind === 'fault') return failed(`The MCP server sent no usable message: ${frame.message}`)
    return { form: 'json', status, event: { frame } }
  }

  /** A server may say in JSON-RPC what is wrong with a request; then the client gets to read it. */
  async #badRequest(response: IncomingMessage): Promise<McpReply> {
    const frame = readFrame(await this.#body(response), 'server')
    if (frame.kind === 'response' && frame.error !== undefined) return { form: 'json', status: 400, event: { frame } }
    return failed('The MCP server answered 400.')
  }

  #body(response: IncomingMessage): Promise<Buffer> {
    return bodyOf(response, this.#session.frame_bytes, this.#server.timeout_ms)
  }

  #stream(response: IncomingMessage): McpReply {
    this.#keep(response)
    return {
      form: 'sse',
      events: eventsOf(response, this.#session.frame_bytes),
      stop: () => void response.destroy(),
    }
  }

  /** What is not over yet ends with the session. */
  #keep(response: IncomingMessage): IncomingMessage {
    this.#open.add(response)
    return response.once('close', () => this.#open.delete(response))
  }

  #refused(response: IncomingMessage): McpReply {
    const { statusCode: status = 0, headers } = response
    response.destroy()
    if (status === 404 && this.#id !== undefined) return this.#over()
    if (status === 401 || status === 403) {
      const message = `The MCP server refused the gateway (${status}). Check mcp.servers.${this.#server.id}.headers.`
      return { form: 'failed', status: 502, code: 'UPSTREAM_REFUSED', message }
    }
    if (status === 429 || status === 503) {
      const retry = headers['retry-after']
      const wait = retry !== undefined && PRINTABLE.test(retry) ? { retry_after: retry } : {}
      return { ...failed(`The MCP server answered ${status}.`), status, ...wait }
    }
    return failed(`The MCP server answered ${status}.`)
  }

  #over(): McpReply {
    this.#id = undefined
    const message = 'The MCP server has ended the session. Initialize again.'
    this.#lose({ reason: message })
    return { form: 'failed', status: 404, code: 'MCP_SESSION_NOT_FOUND', message }
  }
}

const failed = (message: string) => ({ form: 'failed', status: 502, code: 'UPSTREAM_FAILED', message }) as const

const sessionIdOf = ({ headers }: IncomingMessage): string | undefined => {
  const id = headers['mcp-session-id']
  return typeof id === 'string' && PRINTABLE.test(id) ? id : undefined
}

const printable = (type: string): string => type.replace(/[^\x21-\x7e]/g, '').slice(0, 100)
