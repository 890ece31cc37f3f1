import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import type { McpServer } from 'guard-gateway/core'

const CONNECT_MS = 10_000
/** How long an idle connection may wait for the next message. */
const IDLE_MS = 30_000
/** Bodies up to so many bytes go out in one piece with their head: as text whose characters are the bytes. */
const ONE_WRITE = 16_384

/** A server that gave no answer: it was not reached, or did not answer in time. */
export class NoAnswer extends Error {
  readonly code: 'UPSTREAM_UNREACHABLE' | 'UPSTREAM_TIMEOUT'
  constructor(code: 'UPSTREAM_UNREACHABLE' | 'UPSTREAM_TIMEOUT', message: string) {
    super(message)
    this.code = code
  }
}

/** One request; `timeout_ms` until the head of the answer is there. */
export interface Asked {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: OutgoingHttpHeaders
  readonly body?: Buffer
  readonly timeout_ms: number
}

/** Sends requests to one address. Redirects are answers like any other. */
export class Caller {
  /** Read out of the address once. */
  readonly #place: ReturnType<typeof urlToHttpOptions>
  readonly #agent: HttpAgent
  readonly #request: typeof httpRequest

  constructor(target: string) {
    const url = new URL(target)
    this.#place = urlToHttpOptions(url)
    const secure = url.protocol === 'https:'
    this.#agent = new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true, timeout: 0, keepAliveMsecs: IDLE_MS })
    this.#request = secure ? httpsRequest : httpRequest
  }

  /** Resolves to the head of the answer. Rejects with NoAnswer. */
  ask({ method, headers, body, timeout_ms }: Asked): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = this.#request({ ...this.#place, method, headers, agent: this.#agent })
      let fault: NoAnswer | undefined
      const stop = (why: NoAnswer) => {
        fault = why
        request.destroy()
      }
      const late = setTimeout(
        () => stop(new NoAnswer('UPSTREAM_TIMEOUT', `The MCP server did not answer within ${timeout_ms / 1000} s.`)),
        timeout_ms,
      )
      request.on('socket', (socket) => watchConnect(socket, stop))
      request.on('response', (response) => {
        clearTimeout(late)
        resolve(response)
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(late)
        reject(fault ?? unreachable(error))
      })
      if (body !== undefined && body.length <= ONE_WRITE) request.end(body.toString('latin1'), 'latin1')
      else request.end(body)
    })
  }
}

const unreachable = ({ code }: NodeJS.ErrnoException): NoAnswer =>
  new NoAnswer('UPSTREAM_UNREACHABLE', `The MCP server could not be reached${code === undefined ? '' : ` (${code})`}.`)

const watchConnect = (socket: Socket, stop: (why: NoAnswer) => void): void => {
  if (!socket.connecting) return
  const late = setTimeout(
    () => stop(new NoAnswer('UPSTREAM_UNREACHABLE', `No connection to the MCP server within ${CONNECT_MS / 1000} s.`)),
    CONNECT_MS,
  )
  const made = () => clearTimeout(late)
  socket.once('connect', made).once('close', made)
}

const callers = new WeakMap<McpServer, Caller>()

/** The caller of a server; its connections serve all sessions. */
export const callerOf = (server: McpServer): Caller => {
  const known = callers.get(server)
  if (known !== undefined) return known
  const caller = new Caller(server.target ?? '')
  callers.set(server, caller)
  return caller
}
