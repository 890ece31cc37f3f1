import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import { canonicalTarget } from './admission/canonical-target.ts'
import { isLoopback } from './admission/loopback.ts'
import { asFastifyPlugin } from './as-fastify-plugin.ts'
import { drain } from './connections/drain.ts'
import { connectionErrors } from './connections/errors.ts'
import { delayContinue } from './connections/expect-continue.ts'
import { serveHalfClosed } from './connections/half-close.ts'
import { trackIdleConnections } from './connections/idle-connections.ts'
import { serveUpgrades, wantsWebSocket } from './connections/upgrade.ts'
import { sendError } from './errors.ts'
import { type HttpServerState, serverStateOf } from './http-server-state.ts'
import { Log, type LogTarget } from './log.ts'
import { serveFastPath } from './models/fast-path.ts'
import { setSecurityHeaders } from './response-headers.ts'
import type { TlsFiles } from './tls/credentials.ts'
import type { TlsListener } from './tls/listener.ts'

const SECOND = 1_000
/** How long connections may stay after everything on them has ended. */
const LINGER_MS = 1_000

export interface ServeOptions {
  readonly host?: string
  /** 0: the system chooses. */
  readonly port?: number
  /** Where log lines go; standard error if absent. */
  readonly log?: LogTarget
}

/** A gateway that listens. */
export interface Serving {
  readonly url: string
  readonly host: string
  readonly port: number
  /** Lets open replies end, then stops everything; safe to call again. */
  close(): Promise<void>
}

/** Opens the gateway and listens. Rejects with the system's error if the address cannot be listened on. */
export const serve = async (
  gateway: Gateway,
  { host, port, log = standardError() }: ServeOptions = {},
): Promise<Serving> => {
  const state = serverStateOf(gateway)
  state.log = new Log(log, () => gateway.clock.now())
  const listenHost = host ?? state.server.host
  state.isBeyondLoopback = !isLoopback(listenHost)
  const { tls: files } = state.server
  const tls = files.cert === '' ? undefined : await tlsListener(state, files)
  const app = appOf(state, tls)
  const closeIdle = trackIdleConnections(app.server)
  await app.register(asFastifyPlugin(gateway, { alone: true }))
  try {
    await app.ready()
    await app.listen({ host: listenHost, port: port ?? state.server.port })
  } catch (error) {
    await app.close()
    throw error
  }
  serveFastPath(state, app.server)
  state.authProxy?.watch(app.server)
  tls?.watch(app.server as Server & TlsServer)
  state.port = (app.server.address() as AddressInfo).port
  const name = listenHost.includes(':') ? `[${listenHost}]` : listenHost
  const url = `${state.scheme}://${name}:${state.port}`
  gateway.hooks.listen.call(url)
  let closed: Promise<void> | undefined
  state.stop = () => drain(state, app.server)
  return {
    url,
    host: listenHost,
    port: state.port,
    close: () => {
      tls?.stop()
      closed ??= close(state, app, closeIdle)
      return closed
    },
  }
}

/** TLS is loaded only where it is served. */
const tlsListener = async (state: HttpServerState, files: TlsFiles): Promise<TlsListener> => {
  const { TlsListener: Listener } = await import('./tls/listener.ts')
  return Listener.open(state.gateway, { files, log: () => state.log })
}

/** Standard error; the process continues after it is closed. */
const standardError = (): LogTarget => {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
  return process.stderr
}

const close = async (state: HttpServerState, app: FastifyInstance, closeIdle: () => void): Promise<void> => {
  await state.drained()
  const server: Server = app.server
  const cut = setTimeout(() => server.closeAllConnections(), LINGER_MS)
  server.closeIdleConnections()
  closeIdle()
  await app.close()
  clearTimeout(cut)
  state.log?.flush()
}

/** The framework with every limit set that its defaults leave open, and without what the gateway does itself. */
const appOf = (state: HttpServerState, tls: TlsListener | undefined): FastifyInstance => {
  const server = {
    headersTimeout: 10 * SECOND,
    connectionsCheckingInterval: SECOND,
    maxHeaderSize: 32_768,
    // the guard answers a missing host itself
    requireHostHeader: false,
    keepAlive: true,
    keepAliveInitialDelay: 30 * SECOND,
    noDelay: true,
    shouldUpgradeCallback: wantsWebSocket,
  }
  const listener = tls === undefined ? { http: server } : { https: { ...server, ...tls.serverOptions() } }
  const app = Fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: 1_048_576,
    requestTimeout: 60 * SECOND,
    connectionTimeout: 0,
    // routes are added from modules that load then, which takes a busy machine its time
    pluginTimeout: 60 * SECOND,
    return503OnClosing: false,
    rewriteUrl: (request) => canonicalTarget(state, request),
    routerOptions: { maxParamLength: 4096 },
    clientErrorHandler: connectionErrors(state.gateway),
    frameworkErrors: (error, request, reply) => {
      setSecurityHeaders(reply)
      sendError(state, error, request, reply)
    },
    ...listener,
  }) as FastifyInstance
  app.server.maxConnections = state.server.max_connections
  serveUpgrades(state, app.server)
  delayContinue(app.server)
  // over TLS, Node ends a connection with the client's half
  if (tls === undefined) serveHalfClosed(app.server)
  return app
}
