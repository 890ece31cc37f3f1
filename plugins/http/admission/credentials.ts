import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type ApiStyle, GuardError, type Identity, type Keys } from 'guard-gateway/core'
import type { Scope } from '#lib/principal'
import { httpErrors } from '../error-codes.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { withoutQueryKey } from './target.ts'

const BEARER = /^bearer ([^ ].*)$/i

/** The keys a request shows: `x-guard-key`, then the bearer token, then `x-api-key`; in a dialect with a place of its own for them, then there. */
export const credentialsOf = (
  headers: IncomingHttpHeaders,
  place?: ApiStyle['credential'],
  target = '',
): readonly string[] => {
  const found: string[] = []
  const own = headers['x-guard-key']
  if (typeof own === 'string') found.push(own)
  const { authorization } = headers
  const token = authorization === undefined ? undefined : bearerToken(authorization)
  if (token !== undefined) found.push(token)
  const key = headers['x-api-key']
  if (typeof key === 'string') found.push(key)
  if (place !== undefined && place.header !== 'x-api-key') {
    const value = headers[place.header]
    if (typeof value === 'string') found.push(value)
    found.push(...withoutQueryKey(target, place.query).keys)
  }
  return found
}

/** What follows the scheme word and one blank; nothing is trimmed. */
export const bearerToken = (authorization: string): string | undefined =>
  authorization.startsWith('Bearer ') ? authorization.slice(7) : BEARER.exec(authorization)?.[1]

/** Whose key a request shows. Throws UNAUTHORIZED, which names the headers and never their values. */
export const identityOf = (keys: Keys, credentials: readonly string[]): Identity => {
  const identity = credentials.length === 0 ? undefined : keys.identify(credentials)
  if (identity === undefined)
    throw new GuardError('UNAUTHORIZED', refusalDetail(keys, credentials), {
      headers: { 'www-authenticate': 'Bearer realm="guard"' },
    })
  return identity
}

/** The same, after a look into the storage for a key that is not known, or not for sure. Rejects with UNAUTHORIZED, and with SCOPE_REQUIRED for a key that is not for this. */
export const programIdentity = async (
  state: HttpServerState,
  request: IncomingMessage,
  credentials: readonly string[],
  scope: Scope,
): Promise<Identity> => {
  const { keys } = state.gateway
  await keys.lookUp(credentials)
  if (state.isBeyondLoopback && keys.identify(credentials) === undefined && credentials.length > 0)
    await state.gateway.service('principals').get()?.refused('key', request)
  const identity = identityOf(keys, credentials)
  checkScope(identity, scope)
  return identity
}

/** Throws SCOPE_REQUIRED. */
export const checkScope = ({ scopes }: Pick<Identity, 'scopes'>, scope: Scope): void => {
  if (scopes !== undefined && !scopes.has(scope))
    throw new GuardError(
      httpErrors.SCOPE_REQUIRED,
      `This needs a key with the scope "${scope}"; this one has ${[...scopes].join(', ') || 'none'}.`,
    )
}

/** A key of the gateway or of an agent, which needs no look into the storage. */
export const isPlain = (identity: Identity | undefined): identity is Identity =>
  identity !== undefined && identity.scopes === undefined

/** Undefined where nothing is to be said but that no key is right. */
const refusalDetail = (keys: Keys, credentials: readonly string[]): string | undefined =>
  credentials.some((each) => keys.identify([each]) !== undefined)
    ? 'The request shows keys of two agents, so nobody can tell whose it is. Send the key of one, in one header.'
    : undefined
