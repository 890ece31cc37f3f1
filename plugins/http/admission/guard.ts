import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { GuardError, statusOf } from 'guard-gateway/core'
import { requestIdentities } from 'guard-gateway/lib/http'
import { newId } from 'guard-gateway/lib/ids'
import { askForBody } from '../connections/expect-continue.ts'
import { lingeringClose } from '../connections/linger.ts'
import { guardErrorOf } from '../errors.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { logResponses } from '../log-events.ts'
import { configuredPassthrough, enter } from '../models/routes.ts'
import { guardResponse, setSecurityHeaders } from '../response-headers.ts'
import { credentialsOf, identityOf } from './credentials.ts'
import { refuseDuplicateHeaders } from './duplicate-headers.ts'
import { classOf, needsKey, type RouteClass } from './route-class.ts'
import type { RouteTable } from './route-table.ts'
import { checkTarget, decodedPath, refuseDotSegments } from './target.ts'

/** Checks every request before its body is read. Throws the first reason to refuse it. */
export const admit = (state: HttpServerState, request: IncomingMessage, kind: RouteClass): void => {
  checkTarget(request.url ?? '', state.gateway.secrets)
  // only these are forwarded; elsewhere a path is ids, which dots and slashes may be part of
  if (kind === 'model') refuseDotSegments(request.url ?? '')
  refuseDuplicateHeaders(request.rawHeaders)
  // orchestrators name the address of a container, or nothing; they learn nothing either
  if (kind === 'health') return
  state.checkHostHeader(request.headers.host)
  state.checkOrigin(request, kind)
}

/**
 * Adds the same guard to every route that `scope` will get.
 * A route's class comes from its pattern, never from how a client spells the path.
 */
export const guardRoutes = (state: HttpServerState, scope: FastifyInstance, routes: RouteTable): void => {
  scope.addHook('onRoute', (route) => {
    routes.add(route.method, route.url)
    const kind = classOf(route.url)
    if (needsKey(kind) && route.schema !== undefined) route.schema = keyed(route.schema)
    route.onRequest = [routeGuard(state, routes, kind), ...listed(route.onRequest)]
    route.onSend = [lingerOnLargeBody, ...listed(route.onSend)]
    // model requests are logged with what was decided about them, and probes would fill the log
    if (kind !== 'model' && kind !== 'health') route.onRequest.unshift(logResponses(state, route.url))
    if (needsKey(kind)) return
    route.onSend = [guardResponse(kind), ...listed(route.onSend)]
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

const routeGuard = (state: HttpServerState, routes: RouteTable, kind: RouteClass): onRequestHookHandler => {
  // model routes see to keys, capacity and bodies themselves: they need to know whose key it is
  const isJudgedLater = kind === 'model'
  const keyed = needsKey(kind) && !isJudgedLater
  return (request, reply, done) => {
    try {
      request.id = newId('guardreq_', state.gateway.clock.now())
      admit(state, request.raw, kind)
      // a browser sends a preflight request without a key
      if (keyed && !(kind === 'transport' && request.method === 'OPTIONS')) checkKey(state, request)
      // the router lets a name be empty, which names nothing
      if (hasEmptyName(request.params as Readonly<Record<string, string>>)) throw routes.refusal(request)
    } catch (error) {
      return done(error as Error)
    }
    if (!isJudgedLater) askForBody(reply.raw)
    done()
  }
}

const hasEmptyName = (params: Readonly<Record<string, string>>): boolean => {
  for (const name in params) if (params[name] === '') return true
  return false
}

const checkKey = (state: HttpServerState, { raw }: FastifyRequest): void => {
  requestIdentities.set(raw, identityOf(state.gateway.keys, credentialsOf(raw.headers)))
  if (state.draining) throw new GuardError('SHUTTING_DOWN', undefined, { headers: { connection: 'close' } })
}

/** Handles requests that match no route: it passes through those that the configuration lists, and refuses the others. */
export const unmatchedGuard =
  (state: HttpServerState, routes: RouteTable): onRequestHookHandler =>
  (request, reply, done) => {
    try {
      request.id = newId('guardreq_', state.gateway.clock.now())
      const path = decodedPath(request.raw.url ?? '')
      const kind = classOf(path)
      if (!needsKey(kind)) setSecurityHeaders(reply)
      admit(state, request.raw, kind)
      if (kind === 'model') identityOf(state.gateway.keys, credentialsOf(request.raw.headers))
      if (kind !== 'model' || !state.passesThrough(path)) throw routes.refusal(request)
      routes.refuseSpelling(request.method, path)
    } catch (error) {
      const { code } = guardErrorOf(error)
      state.log?.line('info', { request_id: request.id, method: request.method, status: statusOf(error), code })
      return done(error as Error)
    }
    enter(state, configuredPassthrough, true).call(request.server, request, reply, done)
  }
