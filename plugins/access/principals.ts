import type { IncomingMessage } from 'node:http'
import { type Gateway, GuardError, type Identity } from 'guard-gateway/core'
import { APPROVER_HEADER } from '#lib/approver'
import { type Principal, type Principals, principalSourceKind, programScopes, thisMachine } from '#lib/principal'
import { accessErrors } from './error-codes.ts'
import type { AccessKeys } from './keys/access-keys.ts'
import { cookieOf, setCookie } from './login/cookie.ts'
import type { LoginSessions } from './login/login-sessions.ts'
import { SlowDown } from './slow-down.ts'

/** Tells who sends requests: by keys, by what other plugins know, by login. */
export const principals = (gateway: Gateway, keys: AccessKeys, logins: LoginSessions): Principals => {
  const refusals = { key: 0, login: 0 }
  const slowDown = new SlowDown(() => gateway.clock.tick())
  const refused: Principals['refused'] = async (kind, { socket }) => {
    refusals[kind]++
    const count = await slowDown.failed(socket.remoteAddress ?? '')
    return { isRecorded: count <= FIRST_RECORDED || Number.isInteger(Math.log2(count)) }
  }

  const byKey = async (credentials: readonly string[]): Promise<Principal | undefined> => {
    await gateway.keys.lookUp(credentials)
    const identity = gateway.keys.identify(credentials)
    return identity === undefined ? undefined : principalOfKey(identity, keys)
  }

  const approving = (approverKey: string | undefined): Principal | undefined => {
    if (approverKey === undefined || !gateway.approver.needsKey)
      return approverKey === gateway.approver.pass ? itself : undefined
    if (approverKey === gateway.approver.pass) return itself
    try {
      gateway.approver.check(approverKey)
      return approver
    } catch {
      return undefined
    }
  }

  const bySource = async (request: IncomingMessage): Promise<Principal | undefined> => {
    for (const source of gateway.registry(principalSourceKind)) {
      const found = await source.principalOf(request)
      if (found !== undefined) return found
    }
    return undefined
  }

  const byPerson = async (request: IncomingMessage): Promise<Principal | undefined> =>
    (await bySource(request)) ?? logins.principalOf(cookieOf(request))

  /** By the header of the approver key, or by a credential that is it. */
  const approverOf = ({ headers }: IncomingMessage, credentials: readonly string[]): Principal | undefined => {
    const header = headers[APPROVER_HEADER]
    return approving(typeof header === 'string' ? header : undefined) ?? firstOf(credentials, approving)
  }

  return {
    refused,
    refusals,
    holds: ({ kind, key_id }) =>
      kind === 'proxy' || kind === 'loopback' || key_id === null || gateway.keys.isLive(key_id),
    async renewed(request) {
      const issued = await logins.rotated(cookieOf(request))
      return issued && setCookie(request, issued.value, issued.seconds)
    },
    get hasAdmin() {
      return keys.hasAdmin
    },
    async of(request, credentials) {
      const mayApprove = approverOf(request, credentials)
      if (mayApprove === itself) return itself
      const found = credentials.length > 0 ? await byKey(credentials) : await byPerson(request)
      if (found !== undefined) return mayApprove === undefined ? found : joined(found, mayApprove)
      if (mayApprove !== undefined || credentials.length === 0) return mayApprove
      await refused('key', request)
      throw new GuardError(accessErrors.KEY_REFUSED, undefined, bearer)
    },
  }
}

/** Of so many failures of an address in a row each is worth a record, of further ones every doubling. */
const FIRST_RECORDED = 5

const bearer = { headers: { 'www-authenticate': 'Bearer realm="guard"' } }

/** Parts of this process that ask its own interface. */
const itself: Principal = { ...thisMachine, name: 'gateway' }

const approver: Principal = Object.freeze({
  name: 'approver key',
  kind: 'key',
  scopes: new Set(['operate'] as const),
  projects: null,
  key_id: null,
})

const gatewayKey: Principal = Object.freeze({
  name: 'gateway key',
  kind: 'key',
  scopes: programScopes,
  projects: null,
  key_id: null,
})

const principalOfKey = ({ agent_id, key_id }: Identity, keys: AccessKeys): Principal | undefined => {
  if (agent_id !== null) return { ...gatewayKey, name: agent_id, key_id }
  return key_id === null ? gatewayKey : keys.principalOf(key_id)
}

const joined = (one: Principal, more: Principal): Principal => ({
  ...one,
  scopes: new Set([...one.scopes, ...more.scopes]),
})

const firstOf = <T, R>(list: readonly T[], find: (one: T) => R | undefined): R | undefined => {
  for (const one of list) {
    const found = find(one)
    if (found !== undefined) return found
  }
  return undefined
}
