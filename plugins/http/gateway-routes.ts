import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, onRequestHookHandler, RouteOptions } from 'fastify'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { acceptNoBody, mediaType } from '#lib/http'
import { readJsonStrict } from '#lib/json'
import { ownPluginKind } from '#lib/plugin-options'
import { guardRoutes, unmatchedGuard } from './admission/guard.ts'
import { RouteTable } from './admission/route-table.ts'
import { sendError } from './errors.ts'
import type { HttpServerState } from './http-server-state.ts'
import { declareModelPaths } from './models/declare-paths.ts'

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

/** The framework's hooks that still run for a hijacked request. */
const hookNames = ['onRequest', 'onRequestAbort', 'onTimeout', 'onResponse'] as const
const names: ReadonlySet<string> = new Set(hookNames)

/** Sets `hasRequestHooks` if a plugin adds hooks to model requests: to its whole scope, or to a single route. */
const detectRequestHooks = (state: HttpServerState, scope: FastifyInstance): void => {
  const guarded: (readonly [route: RouteOptions, hooks: readonly unknown[]])[] = []
  scope.addHook('onRoute', (route) => {
    if (state.modelPaths.has(route.url)) guarded.push([route, hooksOf(route)])
  })
  scope.addHook('onReady', async () => {
    // until now they could be added to
    state.hasRequestHooks ||= guarded.some(([route, hooks]) => !isDeepStrictEqual(hooksOf(route), hooks))
  })
  const addHook: (...args: never[]) => FastifyInstance = scope.addHook
  scope.addHook = function (this: FastifyInstance, ...args: never[]) {
    if (this === scope && names.has(args[0] ?? '')) state.hasRequestHooks = true
    return addHook.apply(this, args)
  }
}

const hooksOf = (route: RouteOptions): readonly unknown[] => hookNames.flatMap((name) => route[name] ?? [])

/** A tap of the hook `http`, which is a plugin. */
interface Declarer {
  readonly name: string
}

/** The methods of all routes that plugins have declared so far, each with its path, and the plugin that has. */
type Owners = Map<string, Declarer>

/**
 * Lets every plugin declare its routes in this scope.
 * Throws DUPLICATE with names and files of two plugins that declare the same one: the framework knows neither.
 */
const declareRoutes = async (gateway: Gateway, scope: FastifyInstance): Promise<void> => {
  const owners: Owners = new Map()
  const { http } = gateway.hooks
  let plugin: Declarer = { name: '' }
  http.intercept({
    tap: (tap) => {
      plugin = tap
      gateway.registering = `plugin ${declarerName(gateway, tap)}`
    },
  })
  scope.addHook('onRoute', ({ method, url, constraints }) => {
    if (constraints !== undefined) return
    for (const one of [method].flat()) claim(gateway, owners, `${one} ${url}`, plugin)
  })
  const { registering } = gateway
  await http.promise(scope)
  gateway.registering = registering
}

const claim = (gateway: Gateway, owners: Owners, route: string, plugin: Declarer): void => {
  const owner = owners.get(route)
  // of its own routes a plugin is shown by the framework, with the line
  if (owner === undefined || owner === plugin) owners.set(route, plugin)
  else
    throw new GuardError(
      'DUPLICATE',
      `The plugins ${declarerName(gateway, owner)} and ${declarerName(gateway, plugin)} both declare the route ${route}. Give the one of your own another path.`,
    )
}

/** A plugin of the user's with its file. */
const declarerName = (gateway: Gateway, { name }: Declarer): string => {
  const file = gateway.registry(ownPluginKind).get(name)?.file
  return file === undefined ? `"${name}"` : `"${name}" (${file})`
}

const MAX_BYTES = 1_048_576
const MAX_DEPTH = 128

/** Bodies of administration routes: strict JSON or none. Routes that take other types register their own parsers. */
const jsonBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit: MAX_BYTES },
    (request, body, done) => {
      // a type without a body is no body
      if (body.length === 0) return done(null, undefined)
      try {
        if (mediaType(request.headers['content-type'] ?? '') === undefined)
          throw new GuardError('UNSUPPORTED_MEDIA_TYPE')
        done(null, readJsonStrict(body, { max_depth: MAX_DEPTH, unique: true }))
      } catch (error) {
        done(error as Error)
      }
    },
  )
  acceptNoBody(app)
}
