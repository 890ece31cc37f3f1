import type { IncomingMessage, RequestListener, Server } from 'node:http'
import Fastify, { type FastifyInstance } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { canonicalTarget } from './admission/canonical-target.ts'
import { pathOf } from './admission/target.ts'
import { sendError } from './errors.ts'
import { addGatewayRoutes, isOwned } from './gateway-routes.ts'
import type { HttpServerState } from './http-server-state.ts'
import { setSecurityHeaders } from './response-headers.ts'

const MINUTE_MS = 60_000

/** The web framework with the routes of all plugins. */
export interface Framework {
  readonly listener: RequestListener
  /** Ends the routes, and closes the gateway. */
  close(): Promise<void>
}

/**
 * Lets every plugin add its routes. Rejects with what a plugin throws; the gateway stays open. `server`: who listens; the framework does not.
 * `leave` passes a request to no path of the gateway's on to a host application; absent: there is none.
 */
export const loadFramework = async (
  state: HttpServerState,
  server: Server,
  leave?: (request: IncomingMessage) => void,
): Promise<Framework> => {
  const app = Fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: 1_048_576,
    // routes are added from modules that load then, which takes a busy machine its time
    pluginTimeout: MINUTE_MS,
    return503OnClosing: false,
    rewriteUrl: (request) => canonicalTarget(state, request),
    routerOptions: { maxParamLength: 4096 },
    serverFactory: () => server,
    // the server has its own
    clientErrorHandler: () => {},
    frameworkErrors: (error, request, reply) => {
      // what cannot be decoded matches nothing: outside the gateway's paths it is for the host to judge
      if (leave !== undefined && !isOwned(state, pathOf(request.raw.url ?? ''))) return leave(request.raw)
      setSecurityHeaders(reply)
      sendError(state, error, request, reply)
    },
  }) as FastifyInstance
  let isReady = false
  app.addHook('onClose', async () => {
    if (isReady) await state.gateway.close()
  })
  if (leave !== undefined) leaveUnmatched(app, leave)
  await app.register((scope) => addGatewayRoutes(state, scope, leave === undefined))
  try {
    await app.ready()
    isReady = true
  } catch (error) {
    await app.close()
    throw error
  }
  return { listener: app.routing, close: () => app.close() }
}

/** Passes on what matches no route, with its body unread. Refuses what matches one and has been read before. */
const leaveUnmatched = (app: FastifyInstance, leave: (request: IncomingMessage) => void): void => {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) {
      reply.hijack()
      leave(request.raw)
    } else if (request.raw.readableDidRead) done(new GuardError('INTERNAL', READ_BEFORE))
    else done()
  })
}

const READ_BEFORE =
  'The application around this gateway has read the body of the request. Let it call the gateway before its body parsers.'
