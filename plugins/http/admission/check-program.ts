import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { GuardError, type Identity } from 'guard-gateway/core'
import { requestIdentities } from '#lib/http'
import { type Principal, programScopes, requestPrincipals, runAs, type Scope } from '#lib/principal'
import type { HttpServerState } from '../http-server-state.ts'
import { bindProject } from './bound-project.ts'
import { credentialsOf, isPlain, programIdentity } from './credentials.ts'

/** Checks the key of a program that sends traces or speaks MCP. */
export const checkProgram =
  (state: HttpServerState, scope: Scope): onRequestHookHandler =>
  (request, _reply, done) => {
    const { raw } = request
    const credentials = credentialsOf(raw.headers)
    const goOn = (identity: Identity): void => {
      try {
        accept(state, request, identity)
      } catch (error) {
        return void done(error as Error)
      }
      enter(request, identity, scope, done)
    }
    const known = state.gateway.keys.identify(credentials)
    if (isPlain(known)) goOn(known)
    else programIdentity(state, raw, credentials, scope).then(goOn, done)
  }

/** What a key that is bound to projects ingests is checked where it is written. */
const enter = (
  { raw }: FastifyRequest,
  { projects, key_id, scopes = programScopes }: Identity,
  scope: Scope,
  done: () => void,
): void => {
  if (scope !== 'ingest' || !projects) return void done()
  const held = scopes as ReadonlySet<Scope>
  const principal: Principal = { name: key_id ?? '', kind: 'key', scopes: held, projects, key_id }
  requestPrincipals.set(raw, principal)
  runAs(principal, done, true)
}

const accept = (state: HttpServerState, { raw }: FastifyRequest, identity: Identity): void => {
  requestIdentities.set(raw, identity)
  bindProject(raw.headers, identity.projects)
  if (state.draining) throw new GuardError('SHUTTING_DOWN', undefined, { headers: { connection: 'close' } })
}
