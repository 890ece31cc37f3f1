import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { GuardError, statusOf } from 'guard-gateway/core'
import { identities } from 'guard-gateway/lib/http'
import { newId } from 'guard-gateway/lib/ids'
import { askForBody } from '../connections/continue.ts'
import { lingerAfter } from '../connections/linger.ts'
import { guardErrorOf } from '../errors.ts'
import type { HttpFace } from '../face.ts'
import { logAnswers } from '../log-events.ts'
import { enter, passThrough } from '../models/routes.ts'
import { guardResponse, protect } from '../response-headers.ts'
import { credentialsOf, identityOf } from './credentials.ts'
import { refuseDoubles } from './doubles.ts'
import { classOf, needsKey, type RouteClass } from './route-class.ts'
import type { Routes } from './routes-seen.ts'
import { checkTarget, decodedPath, refuseDotSegments } from './target.ts'

/** What every request must pass before anything of it is read. Throws the first reason to refuse it. */
export const admit = (face: HttpFace, request: IncomingMessage, kind: RouteClass): void => {
  checkTarget(request.url ?? '', face.gateway.secrets)
  // only these are forwarded; elsewhere a path is ids, which dots and slashes may be part of
  if (kind === 'model') refuseDotSegments(request.url ?? '')
  refuseDoubles(request.rawHeaders)
  face.judgeHost(request.headers.host)
  face.judgeOrigin(request, kind)
}

/**
 * Puts every route that `scope` will get behind one judgement.
 * A route's class comes from its pattern, never from how a client spells the path.
 */
export const guardRoutes = (face: HttpFace, scope: FastifyInstance, routes: Routes): void => {
  scope.addHook('onRoute', (route) => {
    routes.add(route.method, route.url)
    const kind = classOf(route.url)
    if (needsKey(kind) && route.schema !== undefined) route.schema = keyed(route.schema)
    route.onRequest = [routeGuard(face, routes, kind), ...listed(route.onRequest)]
    route.onSend = [lingering, ...listed(route.onSend)]
    // model requests are logged with what was decided about them
    if (kind !== 'model') route.onRequest.unshift(logAnswers(face, route.url))
    if (needsKey(kind)) return
    route.onSend = [guardResponse(kind), ...listed(route.onSend)]
  })
}

const lingering: onSendHookHandler = (request, reply, _payload, done) => {
  if (reply.statusCode === 413) lingerAfter(request.raw)
  done()
}

/** Says in the API description that a key is to be shown, by the names that the description has for the two ways. */
const keyed = (schema: FastifySchema): FastifySchema => ({
  security: [{ gateway_key: [] }, { x_api_key: [] }],
  ...schema,
})

const listed = <T>(hooks: T | T[] | undefined): T[] =>
  hooks === undefined ? [] : Array.isArray(hooks) ? hooks : [hooks]

const routeGuard = (face: HttpFace, routes: Routes, kind: RouteClass): onRequestHookHandler => {
  // model routes see to keys, capacity and bodies themselves: they need to know whose key it is
  const isJudgedLater = kind === 'model'
  const keyed = needsKey(kind) && !isJudgedLater
  return (request, reply, done) => {
    try {
      request.id = newId('guardreq_', face.gateway.clock.now())
      admit(face, request.raw, kind)
      // a browser asks without a key whether it may send one
      if (keyed && !(kind === 'transport' && request.method === 'OPTIONS')) checkKey(face, request)
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

const checkKey = (face: HttpFace, { raw }: FastifyRequest): void => {
  identities.set(raw, identityOf(face.gateway.keys, credentialsOf(raw.headers)))
  if (face.draining) throw new GuardError('SHUTTING_DOWN', undefined, { headers: { connection: 'close' } })
}

/** Judges requests that no route takes: they are passed through where the configuration says so, and refused otherwise. */
export const strayGuard =
  (face: HttpFace, routes: Routes): onRequestHookHandler =>
  (request, reply, done) => {
    try {
      request.id = newId('guardreq_', face.gateway.clock.now())
      const path = decodedPath(request.raw.url ?? '')
      const kind = classOf(path)
      if (!needsKey(kind)) protect(reply)
      admit(face, request.raw, kind)
      if (kind === 'model') identityOf(face.gateway.keys, credentialsOf(request.raw.headers))
      if (kind !== 'model' || !face.passesThrough(path)) throw routes.refusal(request)
      routes.refuseSpelling(request.method, path)
    } catch (error) {
      const { code } = guardErrorOf(error)
      face.log?.line('info', { request_id: request.id, method: request.method, status: statusOf(error), code })
      return done(error as Error)
    }
    enter(face, passThrough, true).call(request.server, request, reply, done)
  }
