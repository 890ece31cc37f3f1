import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Gateway } from 'guard-gateway/core'
import { guardRoutes, unmatchedGuard } from './admission/guard.ts'
import { RouteTable } from './admission/route-table.ts'
import { errorHandler } from './errors.ts'
import { type HttpServerState, serverStateOf } from './http-server-state.ts'
import { jsonBodies } from './json-bodies.ts'
import { detectRequestHooks } from './request-hooks.ts'
import { declareRoutes } from './route-owners.ts'

export interface AsFastifyPluginOptions {
  /** The gateway is the only application of the server, so it answers unknown paths too. */
  readonly alone?: boolean
}

/** Paths that belong to the gateway inside a host application too. */
const ownedPaths = ['/v1', '/v1/*', '/api/*', '/mcp/*', '/ui/*']

/**
 * The whole gateway as one Fastify plugin: opens it, serves it, closes it with the application.
 * Its hooks, parsers and handlers stay inside, so that a host application keeps its own.
 */
export const asFastifyPlugin = (gateway: Gateway, { alone = false }: AsFastifyPluginOptions = {}) =>
  fastifyPlugin(
    async (app: FastifyInstance) => {
      const state = serverStateOf(gateway)
      state.isAlone = alone
      await gateway.open()
      app.addHook('preClose', () => state.drained())
      app.addHook('onClose', () => gateway.close())
      await app.register(async (scope) => {
        await scope.register(errorHandler(state))
        jsonBodies(scope)
        const routes = new RouteTable(state.modelPaths)
        const unmatched = unmatchedGuard(state, routes)
        if (alone) guardUnmatched(scope, unmatched)
        else for (const url of ownedPaths) scope.all(url, { onRequest: unmatched }, unreachable)
        guardRoutes(state, scope, routes)
        detectRequestHooks(state, scope)
        await declareRoutes(gateway, scope)
        if (!alone) guardPatterns(state, scope, unmatched)
      })
    },
    { name: 'guard-gateway', fastify: '5.x' },
  )

/** Paths of API styles that the router of a host application does not know, since they have parameters. */
const guardPatterns = (state: HttpServerState, scope: FastifyInstance, unmatched: onRequestHookHandler): void => {
  const owned = ownedPaths.filter((path) => path.endsWith('*')).map((path) => path.slice(0, -1))
  for (const prefix of state.modelPaths.prefixes)
    if (!owned.some((path) => prefix.startsWith(path))) scope.all(`${prefix}*`, { onRequest: unmatched }, unreachable)
}

/** Never called: the guard refuses the request or takes it over. */
const unreachable = async (): Promise<undefined> => undefined

/** Checks requests to unknown paths the same way. */
const guardUnmatched = (scope: FastifyInstance, unmatched: onRequestHookHandler): void => {
  scope.setNotFoundHandler(unreachable)
  scope.addHook('onRequest', (request, reply, done) => {
    if (request.is404) unmatched.call(scope, request, reply, done)
    else done()
  })
}
