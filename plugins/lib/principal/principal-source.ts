import type { IncomingMessage } from 'node:http'
import { Kind } from 'guard-gateway/core'
import type { Principal } from './principal.ts'

/**
 * A further way to know who sent a request beyond loopback, beside keys and logins: a proxy that authenticates people.
 * Sources are asked in their order, after keys and before login sessions; the first answer counts.
 */
export interface PrincipalSource {
  readonly id: string
  /** Undefined: this source does not know them. Throws GuardError for a request that must be refused. */
  principalOf(request: IncomingMessage): Principal | undefined | Promise<Principal | undefined>
}

export const principalSourceKind = new Kind<PrincipalSource>('principal source', { principalOf: 'function' })
