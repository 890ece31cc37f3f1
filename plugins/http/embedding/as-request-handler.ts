import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Gateway } from 'guard-gateway/core'
import { servesUpgrade, serveUpgrade, wantsWebSocket } from '../connections/upgrade.ts'
import { loadFramework } from '../framework.ts'
import { type HttpServerState, serverStateOf } from '../http-server-state.ts'
import type { LogTarget } from '../log.ts'
import { logStorage } from '../log-storage.ts'
import { servesModel } from '../models/fast-path.ts'
import { noteListener } from './note-listener.ts'

/** Passes a request on to the host application, as in Express. */
export type Next = (error?: unknown) => void

/** A gateway in a server of somebody else's. */
export interface EmbeddedGateway {
  /**
   * Serves a request to one of the gateway's paths, and calls `next` for every other one; without it these are answered with 404.
   * It reads bodies itself, so it goes before whatever parses them. Also middleware of Express, Connect and the like, at the root.
   */
  readonly handle: (request: IncomingMessage, response: ServerResponse, next?: Next) => void
  /**
   * Serves WebSocket handshakes at the gateway's paths: `server.on('upgrade', guard.upgrade)`. All others are left to further listeners;
   * where there is none, a WebSocket is refused, and a request that offers another protocol (`h2c`) is served as if it did not.
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Lets open replies end, then closes the gateway; safe to call again. The server is the host's to close. */
  readonly close: () => Promise<void>
}

export interface EmbeddingOptions {
  /** Where log lines go; nowhere if absent. */
  readonly log?: LogTarget
}

/** Opens a gateway for a server that somebody else runs. Rejects with what a plugin throws. */
export const asRequestHandler = async (gateway: Gateway, { log }: EmbeddingOptions = {}): Promise<EmbeddedGateway> => {
  const state = serverStateOf(gateway)
  if (log !== undefined) state.startLog(log)
  await gateway.open()
  logStorage(state)
  const hosts = new WeakMap<IncomingMessage, () => void>()
  const { createServer } = process.getBuiltinModule('node:http')
  const framework = await loadFramework(state, createServer(), (request) => hosts.get(request)?.())
  let closed: Promise<void> | undefined
  return {
    handle(request, response, next = () => notFound(response)) {
      const restore = restorer(state, request)
      noteListener(state, request.socket)
      state.authProxy?.take(request)
      hosts.set(request, () => {
        restore()
        next()
      })
      if (!isServedAtOnce(state, request, response)) framework.listener(request, response)
    },
    upgrade(request, socket, head) {
      noteListener(state, request.socket)
      if (servesUpgrade(state, request)) serveUpgrade(state, request, socket, head)
      else leaveUpgrade(request, socket, head)
    },
    close() {
      closed ??= state.drained().then(() => framework.close())
      return closed
    },
  }
}

/** As in a server of the gateway's own. A body that somebody has read is left to the framework, which refuses it. */
const isServedAtOnce = (state: HttpServerState, request: IncomingMessage, response: ServerResponse): boolean =>
  !state.hasRequestHooks && !request.readableDidRead && servesModel(state, request, response)

const notFound = (response: ServerResponse): void => {
  response.writeHead(404, { 'content-type': 'text/plain' }).end('There is nothing at this path.\n')
}

/** Remembers a request as it came, and gives what puts it back: a host application reads its own requests unchanged. */
const restorer = (state: HttpServerState, request: IncomingMessage & { originalUrl?: string }): (() => void) => {
  const { url = '', originalUrl, headers, rawHeaders } = request
  const path = () => {
    request.url = url
    if (originalUrl !== undefined) request.originalUrl = originalUrl
  }
  // an absolute form replaces the host, a trusted proxy's headers are taken out
  if (url.startsWith('/') && state.authProxy === undefined) return path
  const [given, raw] = [{ ...headers }, [...rawHeaders]]
  return () => {
    path()
    Object.assign(headers, given)
    rawHeaders.splice(0, rawHeaders.length, ...raw)
  }
}

/** What offers a protocol, and what settles for HTTP/1.1 without. */
const OFFERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings'])

/**
 * Leaves an upgrade to the other listeners of the server. Where there is none nobody would ever answer, since Node hands the connection over:
 * a WebSocket is refused, and another request is served without its offer, as a server does that has not been asked to listen for upgrades.
 */
const leaveUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  const { server } = request.socket as { readonly server?: Server }
  if (server === undefined || server.listenerCount('upgrade') > 1) return
  socket.on('error', () => socket.destroy())
  if (wantsWebSocket(request)) {
    socket.end(REFUSAL)
    return void setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
  socket.unshift(Buffer.concat([Buffer.from(headOf(request), 'latin1'), head]))
  server.emit('connection', socket)
}

/** How long a client that was refused may take to close. */
const LINGER_MS = 1_000

const REFUSAL =
  'HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: 36\r\n\r\nThere is no WebSocket at this path.\n'

/** The head of a request as it came, without its offer of another protocol. */
const headOf = ({ method, url, httpVersion, rawHeaders }: IncomingMessage): string => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    const lower = name.toLowerCase()
    if (lower === 'connection') lines.push(`${name}: ${withoutOffers(value)}`)
    else if (!OFFERS.has(lower)) lines.push(`${name}: ${value}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

const withoutOffers = (value: string): string =>
  value
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !OFFERS.has(option.toLowerCase()))
    .join(', ')
