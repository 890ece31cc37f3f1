import { Readable } from 'node:stream'
import type {
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  onSendHookHandler,
  preValidationHookHandler,
} from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { hasScope, type Principal, principalSourceKind, requestPrincipals, runAs } from 'guard-gateway/lib/principal'
import { httpErrors } from '../error-codes.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { bindProject } from './bound-project.ts'
import { checkScope, credentialsOf } from './credentials.ts'
import { redirectToLogin } from './login-redirect.ts'
import type { RouteScope } from './route-scopes.ts'

/** Whether somebody may administer without showing who they are: on loopback, where no plugin knows people. */
export const isUnguarded = ({ isBeyondLoopback, gateway }: HttpServerState): boolean =>
  !isBeyondLoopback && gateway.registry(principalSourceKind).ids().length === 0

/** Lets a request to administration, pages and ingest pass if whoever sent it has the scope of the route. Sends browsers to the login. */
export const authorize =
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
export const enterAgain =
  (scope: RouteScope): preValidationHookHandler =>
  (request, _reply, done) => {
    const principal = requestPrincipals.get(request.raw)
    if (principal === undefined) done()
    else runAs(principal, done, isWriting(scope))
  }

/** What reads while it is sent goes on in the name of whoever asked: the socket that asks for more knows nothing of it. */
export const keepReading: onSendHookHandler = (request, _reply, payload, done) => {
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
