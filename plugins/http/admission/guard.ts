import type { IncomingMessage } from 'node:http'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  onRequestHookHandler,
  onSendHookHandler,
} from 'fastify'
import { type ApiStyle, type GuardError, statusOf } from 'guard-gateway/core'
import { newId } from 'guard-gateway/lib/ids'
import type { Scope } from 'guard-gateway/lib/principal'
import { askForBody } from '../connections/expect-continue.ts'
import { lingeringClose } from '../connections/linger.ts'
import { guardErrorOf } from '../errors.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { logResponses } from '../log-events.ts'
import { configuredPassthrough, enter } from '../models/routes.ts'
import { guardResponse, setSecurityHeaders } from '../response-headers.ts'
import { admit } from './admit.ts'
import { authorize, enterAgain, keepReading } from './authorize.ts'
import { checkProgram } from './check-program.ts'
import { credentialsOf, identityOf } from './credentials.ts'
import { refuseDuplicateHeaders } from './duplicate-headers.ts'
import { needsKey, type RouteClass } from './route-class.ts'
import { isUndivided, type RouteScope, scopeOf } from './route-scopes.ts'
import type { RouteTable } from './route-table.ts'
import { decodedPath, pathOf } from './target.ts'

/**
 * Adds the same guard to every route that `scope` will get.
 * A route's class comes from its pattern, never from how a client spells the path.
 */
export const guardRoutes = (state: HttpServerState, scope: FastifyInstance, routes: RouteTable): void => {
  scope.addHook('onRoute', (route) => {
    routes.add(route.method, route.url)
    const kind = state.modelPaths.classOfRoute(route.method, route.url)
    const scope = scopeOf(route.method, route.url, route.config?.scope)
    if (needsKey(kind) && route.schema !== undefined) route.schema = keyed(route.schema)
    route.onRequest = [
      routeGuard(state, routes, kind, scope, isUndivided(route.method, route.url)),
      ...listed(route.onRequest),
    ]
    route.onSend = [lingerOnLargeBody, ...listed(route.onSend)]
    // model requests are logged with what was decided about them, and probes would fill the log
    if (kind !== 'model' && kind !== 'health') route.onRequest.unshift(logResponses(state, route.url))
    if (kind !== 'model' && kind !== 'transport')
      route.preValidation = [enterAgain(scope), ...listed(route.preValidation)]
    if (needsKey(kind)) return
    route.onSend = [keepReading, guardResponse(kind), ...listed(route.onSend)]
  })
}

const lingerOnLargeBody: onSendHookHandler = (request, reply, _payload, done) => {
  if (reply.statusCode === 413) lingeringClose(request.raw)
  done()
}

/** Adds the two security schemes of the OpenAPI document to a route that needs a key. */
const keyed = (schema: FastifySchema): FastifySchema => ({
  security: [{ gateway_key: [] }, { x_api_key: [] }],
  ...schema,
})

const listed = <T>(hooks: T | T[] | undefined): T[] =>
  hooks === undefined ? [] : Array.isArray(hooks) ? hooks : [hooks]

const routeGuard = (
  state: HttpServerState,
  routes: RouteTable,
  kind: RouteClass,
  scope: RouteScope,
  undivided: boolean,
): onRequestHookHandler => {
  // model routes see to keys, capacity and bodies themselves: they need to know whose key it is
  const isJudgedLater = kind === 'model'
  const keyed = needsKey(kind) && !isJudgedLater
  const checkKey = keyed
    ? checkProgram(state, scope as Scope)
    : isJudgedLater
      ? undefined
      : authorize(state, scope, undivided)
  return (request, reply, done) => {
    try {
      request.id = newId('guardreq_', state.gateway.clock.now())
      admit(state, request.raw, kind, styleOfRoute(state, kind, request.raw))
      // the router lets a name be empty, which names nothing
      if (hasEmptyName(request.params as Readonly<Record<string, string>>)) throw routes.refusal(request)
    } catch (error) {
      return done(error as Error)
    }
    const admitted: typeof done = (error?: Error) => {
      if (error !== undefined && error !== null) return done(error)
      if (!isJudgedLater) askForBody(reply.raw)
      done()
    }
    // a browser sends a preflight request without a key
    if (checkKey === undefined || (kind === 'transport' && request.method === 'OPTIONS')) admitted()
    else checkKey.call(request.server, request, reply, admitted)
  }
}

/** A key may stand in the query of a few styles. */
const styleOfRoute = (state: HttpServerState, kind: RouteClass, { url = '' }: IncomingMessage): ApiStyle | undefined =>
  kind === 'model' && url.includes('?') ? state.modelPaths.styleAt(decodedPath(url)) : undefined

const hasEmptyName = (params: Readonly<Record<string, string>>): boolean => {
  for (const name in params) if (params[name] === '') return true
  return false
}

/** A model path tells a program without a key nothing of what there is; a key with scopes is looked at where there is something. */
const unmatchedRefusal = (
  state: HttpServerState,
  routes: RouteTable,
  request: FastifyRequest,
  kind: RouteClass,
): GuardError => {
  if (kind === 'model') {
    const credential = state.modelPaths.styleAt(decodedPath(request.raw.url ?? ''))?.credential
    identityOf(state.gateway.keys, credentialsOf(request.raw.headers, credential, request.raw.url))
  }
  return routes.refusal(request)
}

/** `OPTIONS *` asks about the server as a whole (RFC 9110, 9.3.7). */
const answerForServer = (
  state: HttpServerState,
  routes: RouteTable,
  { id, raw }: FastifyRequest,
  reply: FastifyReply,
): void => {
  refuseDuplicateHeaders(raw.rawHeaders)
  state.checkHostHeader(raw.headers.host)
  void reply.code(204).header('allow', routes.methods.join(', ')).header('x-guard-request-id', id).send()
}

/** Handles requests that match no route of the framework: it serves those that match a pattern of a style, passes through those that the configuration lists on, and refuses the others. */
export const unmatchedGuard =
  (state: HttpServerState, routes: RouteTable): onRequestHookHandler =>
  (request, reply, done) => {
    try {
      request.id = newId('guardreq_', state.gateway.clock.now())
      const path = decodedPath(request.raw.url ?? '')
      const kind = state.modelPaths.kindOf(path)
      if (!needsKey(kind)) setSecurityHeaders(reply)
      if (path === '*' && request.method === 'OPTIONS') return answerForServer(state, routes, request, reply)
      admit(state, request.raw, kind, state.modelPaths.styleAt(path))
      unmatchedEntry(state, routes, request, path, kind).call(request.server, request, reply, done)
    } catch (error) {
      const { code } = guardErrorOf(error)
      state.log?.line('info', { request_id: request.id, method: request.method, status: statusOf(error), code })
      done(error as Error)
    }
  }

/** The entry of a path that matches a pattern, or that the configuration lists. Throws the reason to refuse another one. */
const unmatchedEntry = (
  state: HttpServerState,
  routes: RouteTable,
  request: FastifyRequest,
  path: string,
  kind: RouteClass,
): onRequestHookHandler => {
  const found = state.modelPaths.match(request.method, pathOf(request.raw.url ?? ''))
  if (found !== undefined) return enter(state, () => found)
  if (kind !== 'model' || !state.passesThrough(path)) throw unmatchedRefusal(state, routes, request, kind)
  routes.refuseSpelling(request.method, path)
  return enter(state, () => configuredPassthrough(state, request), true)
}
