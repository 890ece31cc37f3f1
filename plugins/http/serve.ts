import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import { asFastifyPlugin } from './as-fastify-plugin.ts'
import { judgeBeforeBodies } from './connections/continue.ts'
import { drain } from './connections/drain.ts'
import { connectionErrors } from './connections/errors.ts'
import { closingUnused } from './connections/unused.ts'
import { refuseUpgrades, wantsWebSocket } from './connections/upgrade.ts'
import { sendError } from './errors.ts'
import { faceOf, type HttpFace } from './face.ts'
import { Log, type LogTarget } from './log.ts'
import { serveAhead } from './models/ahead.ts'
import { protect } from './response-headers.ts'

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
  const face = faceOf(gateway)
  face.log = new Log(log, () => gateway.clock.now())
  const app = appOf(face)
  const closeUnused = closingUnused(app.server)
  await app.register(asFastifyPlugin(gateway, { alone: true }))
  const listenHost = host ?? face.server.host
  try {
    await app.ready()
    await app.listen({ host: listenHost, port: port ?? face.server.port })
  } catch (error) {
    await app.close()
    throw error
  }
  serveAhead(face, app.server)
  face.port = (app.server.address() as AddressInfo).port
  const name = listenHost.includes(':') ? `[${listenHost}]` : listenHost
  const url = `http://${name}:${face.port}`
  gateway.hooks.listen.call(url)
  let closed: Promise<void> | undefined
  face.stop = () => drain(face, app.server)
  return {
    url,
    host: listenHost,
    port: face.port,
    close: () => (closed ??= close(face, app, closeUnused)),
  }
}

/** Standard error; that nobody reads it any more ends nothing. */
const standardError = (): LogTarget => {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
  return process.stderr
}

const close = async (face: HttpFace, app: FastifyInstance, closeUnused: () => void): Promise<void> => {
  await face.drained()
  const server: Server = app.server
  const cut = setTimeout(() => server.closeAllConnections(), LINGER_MS)
  server.closeIdleConnections()
  closeUnused()
  await app.close()
  clearTimeout(cut)
  face.log?.flush()
}

/** The framework with every limit set that its defaults leave open, and without what the gateway does itself. */
const appOf = (face: HttpFace): FastifyInstance => {
  const app = Fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: 1_048_576,
    requestTimeout: 60 * SECOND,
    connectionTimeout: 0,
    // routes are added from modules that load then, which takes a busy machine its time
    pluginTimeout: 60 * SECOND,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 4096 },
    clientErrorHandler: connectionErrors(face.gateway),
    frameworkErrors: (error, request, reply) => {
      protect(reply)
      sendError(face, error, request, reply)
    },
    http: {
      headersTimeout: 10 * SECOND,
      connectionsCheckingInterval: SECOND,
      maxHeaderSize: 32_768,
      // the guard answers a missing host itself
      requireHostHeader: false,
      keepAlive: true,
      keepAliveInitialDelay: 30 * SECOND,
      noDelay: true,
      shouldUpgradeCallback: wantsWebSocket,
    },
  })
  app.server.maxConnections = face.server.max_connections
  refuseUpgrades(face, app.server)
  judgeBeforeBodies(app.server)
  return app
}
