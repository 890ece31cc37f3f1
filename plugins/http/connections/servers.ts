import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { HttpServerState } from '../http-server-state.ts'
import type { TlsListener } from '../tls/listener.ts'
import { connectionErrors } from './errors.ts'
import { delayContinue } from './expect-continue.ts'
import { serveUpgrades, wantsWebSocket } from './upgrade.ts'

const SECOND = 1_000
const { createServer } = process.getBuiltinModule('node:http')
/** How long connections may stay after everything on them has ended. */
const LINGER_MS = 1_000

/** The servers of one gateway: one, and on `localhost` another for its second address. */
export class Servers {
  readonly first: Server
  readonly #state: HttpServerState
  readonly #tls: TlsListener | undefined
  readonly #listener: RequestListener
  readonly #all: Server[] = []
  readonly #closeIdle: (() => void)[] = []

  constructor(state: HttpServerState, tls: TlsListener | undefined, listener: RequestListener) {
    this.#state = state
    this.#tls = tls
    this.#listener = listener
    this.first = this.#create()
  }

  get port(): number {
    return (this.first.address() as AddressInfo).port
  }

  /** Rejects with the system's error if the address cannot be listened on. */
  async listen(host: string, port: number): Promise<void> {
    await listening(this.first, host, port)
    if (host !== 'localhost') return
    const own = (this.first.address() as AddressInfo).address
    // a machine may name an address that it does not have
    for (const { address } of await lookup(host, { all: true }).catch(() => []))
      if (address !== own) await listening(this.#create(), address, this.port).catch(() => {})
  }

  /** Takes no new connection, and closes those without a request. */
  stop(): void {
    for (const server of this.#all) {
      server.close()
      server.closeIdleConnections()
    }
  }

  /** Resolves when `work` has ended and every connection with it; what lingers is cut. */
  async closed(work: Promise<void>): Promise<void> {
    const cut = setTimeout(() => {
      for (const server of this.#all) server.closeAllConnections()
    }, LINGER_MS)
    for (const close of this.#closeIdle) close()
    await work
    await Promise.all(this.#all.map(ended))
    clearTimeout(cut)
  }

  /** A server with every limit set that the defaults leave open. */
  #create(): Server {
    const options = {
      headersTimeout: 10 * SECOND,
      requestTimeout: 60 * SECOND,
      keepAliveTimeout: 72 * SECOND,
      connectionsCheckingInterval: 2 * SECOND,
      maxHeaderSize: 32_768,
      // the guard answers a missing host itself
      requireHostHeader: false,
      keepAlive: true,
      keepAliveInitialDelay: 30 * SECOND,
      noDelay: true,
      shouldUpgradeCallback: wantsWebSocket,
    }
    const state = this.#state
    const server =
      this.#tls === undefined
        ? createServer(options, this.#listener)
        : process
            .getBuiltinModule('node:https')
            .createServer({ ...options, ...this.#tls.serverOptions() }, this.#listener)
    server.maxConnections = state.server.max_connections
    server.on('clientError', connectionErrors(state.gateway))
    serveUpgrades(state, server)
    delayContinue(server)
    // over TLS, Node ends a connection with the client's half
    if (this.#tls === undefined) serveHalfClosed(server)
    state.authProxy?.watch(server)
    this.#closeIdle.push(trackIdleConnections(server))
    this.#all.push(server)
    return server
  }
}

const listening = async (server: Server, host: string, port: number): Promise<void> => {
  server.listen({ host, port })
  await once(server, 'listening')
}

/** Resolves when a server has closed, also one that never listened. */
const ended = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeIdleConnections()
    server.close(() => resolve())
  })

/** Tracks the connections of a server; the result closes those without a single byte. Browsers open such spare connections, and Node counts them as active. */
const trackIdleConnections = (server: Server): (() => void) => {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}

/** When a client that said no more will come is tried: after so many milliseconds, then every so many. */
const PROBES_MS = [250, 250, 2_000, 15_000] as const

/** As much of Node's server as its declarations leave out: without it, the end of what a client sends ends the connection. */
interface HalfOpen {
  httpAllowHalfOpen: boolean
}

/** The response that a connection is busy with, under the name that Node gives it. */
interface Busy {
  readonly _httpMessage?: ServerResponse | null
}

/**
 * Serves clients that close their half of a connection after a request. A client that has left altogether looks the same, so bytes
 * are sent to tell: informational responses until the reply has begun. Once it has, the end of the client's half is taken for its leave.
 */
const serveHalfClosed = (server: Server): void => {
  const halfOpen = server as Server & HalfOpen
  halfOpen.httpAllowHalfOpen = true
  server.on('connection', (socket: Socket) => void socket.on('end', onEnd))
}

function onEnd(this: Socket): void {
  const response = (this as Socket & Busy)._httpMessage
  if (response === undefined || response === null || response.writableEnded) return
  // HTTP/1.0 knows no informational responses; proxies that speak it close the connection when their client leaves
  if (response.headersSent || response.req.httpVersion === '1.0') this.destroy()
  else probe(this, response, 0)
}

/** The system of a client that has left answers by a reset, which the next write finds. */
const probe = (socket: Socket, response: ServerResponse, turn: number): void => {
  const wait = PROBES_MS[Math.min(turn, PROBES_MS.length - 1)]
  const timer = setTimeout(() => {
    if (response.headersSent || socket.destroyed) return
    response.writeProcessing()
    probe(socket, response, turn + 1)
  }, wait)
  response.once('close', () => clearTimeout(timer))
}
