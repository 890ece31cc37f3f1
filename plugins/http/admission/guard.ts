import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  onRequestHookHandler,
  onSendHookHandler,
  preValidationHookHandler,
} from 'fastify'
import { type ApiStyle, GuardError, statusOf } from 'guard-gateway/core'
import { html } from '#lib/html'
import { newId } from '#lib/ids'
import { hasScope, type Principal, principalSourceKind, requestPrincipals, runAs, type Scope } from '#lib/principal'
import { askForBody } from '../connections/expect-continue.ts'
import { lingeringClose } from '../connections/linger.ts'
import { httpErrors } from '../error-codes.ts'
import { guardErrorOf } from '../errors.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { logResponses } from '../log-events.ts'
import { configuredPassthrough, enter } from '../models/routes.ts'
import { guardResponse, setDocumentHeaders, setSecurityHeaders } from '../response-headers.ts'
import { admit } from './admit.ts'
import { bindProject } from './bound-project.ts'
import { checkProgram } from './check-program.ts'
import { checkScope, credentialsOf, identityOf } from './credentials.ts'
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

/** Whether somebody may administer without showing who they are: on loopback, where no plugin knows people. */
const isUnguarded = ({ isBeyondLoopback, gateway }: HttpServerState): boolean =>
  !isBeyondLoopback && gateway.registry(principalSourceKind).ids().length === 0

/** Lets a request to administration, pages and ingest pass if whoever sent it has the scope of the route. Sends browsers to the login. */
const authorize =
  (state: HttpServerState, scope: RouteScope, undivided: boolean): onRequestHookHandler =>
  (request, reply, done) => {
    if (isUnguarded(state)) return done()
    const enter = (principal: Principal | undefined): void => {
      if (principal === undefined) return void done()
      requestPrincipals.set(request.raw, principal)
      runAs(principal, done, isWriting(scope))
    }
    const refuse = (error: unknown): void => {
      if (!redirectToLogin(request, reply, error)) done(error as Error)
    }
    admitted(state, request, reply, scope, undivided).then(enter, refuse)
  }

/** Whoever may pass. Rejects as `principalOf`, and with PROJECT_NOT_ALLOWED. */
const admitted = async (
  state: HttpServerState,
  request: FastifyRequest,
  reply: FastifyReply,
  scope: RouteScope,
  undivided: boolean,
): Promise<Principal | undefined> => {
  const principal = await principalOf(state, request, scope)
  if (principal === undefined) return undefined
  if (undivided && principal.projects !== null) throw new GuardError(httpErrors.PROJECT_NOT_ALLOWED, ALL_PROJECTS)
  await renewLogin(state, principal, request, reply)
  return principal
}

const ALL_PROJECTS = 'This concerns all projects, and the key is bound to some. Use a key that is bound to none.'

/** The body is read outside of what the guard has entered. */
const enterAgain =
  (scope: RouteScope): preValidationHookHandler =>
  (request, _reply, done) => {
    const principal = requestPrincipals.get(request.raw)
    if (principal === undefined) done()
    else runAs(principal, done, isWriting(scope))
  }

/** What reads while it is sent goes on in the name of whoever asked: the socket that asks for more knows nothing of it. */
const keepReading: onSendHookHandler = (request, _reply, payload, done) => {
  const principal = requestPrincipals.get(request.raw)
  if (principal?.projects && payload instanceof Readable) {
    const read = payload._read.bind(payload)
    payload._read = (size) => runAs(principal, () => read(size))
  }
  done(null, payload)
}

/** What is ingested may meet any stored run; the writer checks whose it is. */
const isWriting = (scope: RouteScope): boolean => scope === 'ingest'

/** Undefined: whoever is on this machine. Rejects with KEY_REQUIRED, KEY_REFUSED and SCOPE_REQUIRED. */
const principalOf = async (
  { gateway, isBeyondLoopback }: HttpServerState,
  { raw }: FastifyRequest,
  scope: RouteScope,
): Promise<Principal | undefined> => {
  const found = isBeyondLoopback
    ? await gateway.service('principals').need().of(raw, credentialsOf(raw.headers)).catch(openTo(scope))
    : await firstSource(gateway.registry(principalSourceKind), raw)
  if (found === undefined) {
    if (!isBeyondLoopback || scope === 'open') return undefined
    throw new GuardError(httpErrors.KEY_REQUIRED, undefined, {
      headers: { 'www-authenticate': 'Bearer realm="guard"' },
    })
  }
  if (scope === 'open') return found
  if (!hasScope(found, scope)) checkScope(found, scope)
  if (scope === 'ingest') bindProject(raw.headers, found.projects)
  return found
}

/** A wrong key keeps nobody from what is open. */
const openTo = (scope: RouteScope) => (error: unknown) => {
  if (scope === 'open') return undefined
  throw error
}

const firstSource = async (
  sources: Iterable<{
    principalOf(request: FastifyRequest['raw']): Principal | undefined | Promise<Principal | undefined>
  }>,
  request: FastifyRequest['raw'],
): Promise<Principal | undefined> => {
  for (const source of sources) {
    const found = await source.principalOf(request)
    if (found !== undefined) return found
  }
  return undefined
}

const renewLogin = async (
  { gateway }: HttpServerState,
  { kind }: Principal,
  { raw, method }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  if (kind !== 'session' || method !== 'GET') return
  const header = await gateway.service('principals').need().renewed(raw)
  if (header !== undefined) reply.header('set-cookie', header)
}

/** Sends a browser that asks for a page without a login there. False: an error is the answer. */
const redirectToLogin = (request: FastifyRequest, reply: FastifyReply, error: unknown): boolean => {
  const { headers, method } = request
  if (!(error instanceof GuardError) || error.entry !== httpErrors.KEY_REQUIRED) return false
  if (headers.accept?.includes('text/html') !== true) return false
  const isPage = method === 'GET' || method === 'HEAD'
  // what a link from elsewhere opens comes without the cookie, which is strict; the page asks again by itself
  if (
    isPage &&
    headers['sec-fetch-site'] !== undefined &&
    /^(?:cross-site|same-site)$/.test(headers['sec-fetch-site'])
  ) {
    reply.code(200).type('text/html; charset=utf-8')
    setDocumentHeaders(reply)
    void reply.send(bounce(request.url))
    return true
  }
  const next = isPage ? request.url : '/'
  void reply.redirect(next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`, 303)
  return true
}

const bounce = (url: string): string =>
  html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Guard</title><meta http-equiv="refresh" content="0;url=${url}"></head><body><p><a href="${url}">Continue</a></p></body></html>`
    .text
