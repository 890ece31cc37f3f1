import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { guardRoutes, unmatchedGuard } from './admission/guard.ts'
import { RouteTable } from './admission/route-table.ts'
import { sendError } from './errors.ts'
import type { HttpServerState } from './http-server-state.ts'
import { jsonBodies } from './json-bodies.ts'
import { declareModelPaths } from './models/declare-paths.ts'
import { detectRequestHooks } from './request-hooks.ts'
import { declareRoutes } from './route-owners.ts'

/** Paths that belong to the gateway inside a host application too. */
const ownedPaths = ['/v1', '/v1/*', '/api/*', '/mcp/*', '/ui/*']

/** What the paths of API styles with parameters begin with, beside those. What begins anyhow is the host's. */
const stylePrefixes = ({ modelPaths }: HttpServerState): readonly string[] =>
  modelPaths.prefixes.filter((prefix) => prefix !== '/' && !startsOwned(prefix))

const startsOwned = (path: string): boolean =>
  ownedPaths.some((owned) => owned.endsWith('*') && path.startsWith(owned.slice(0, -1)))

/** Whether a path is the gateway's inside a host application too, whatever is there. */
export const isOwned = (state: HttpServerState, path: string): boolean =>
  startsOwned(path) || stylePrefixes(state).some((prefix) => path.startsWith(prefix))

/** Adds the routes of all plugins to a scope of a Fastify application, with what guards them. `alone`: there is nothing else in the application. */
export const addGatewayRoutes = async (
  state: HttpServerState,
  scope: FastifyInstance,
  alone: boolean,
): Promise<void> => {
  declareModelPaths(state)
  scope.setErrorHandler((error, request, reply) => sendError(state, error, request, reply))
  jsonBodies(scope)
  const routes = new RouteTable(state.modelPaths)
  const unmatched = unmatchedGuard(state, routes)
  if (alone) guardUnmatched(scope, unmatched)
  else for (const url of ownedPaths) scope.all(url, { onRequest: unmatched }, unreachable)
  guardRoutes(state, scope, routes)
  detectRequestHooks(state, scope)
  await declareRoutes(state.gateway, scope)
  if (!alone) guardPatterns(state, scope, unmatched)
}

/** Paths that the router of a host application does not know, since they have parameters. */
const guardPatterns = (state: HttpServerState, scope: FastifyInstance, unmatched: onRequestHookHandler): void => {
  for (const prefix of stylePrefixes(state)) scope.all(`${prefix}*`, { onRequest: unmatched }, unreachable)
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
