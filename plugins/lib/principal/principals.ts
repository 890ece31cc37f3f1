import type { IncomingMessage } from 'node:http'
import type { Principal } from './principal.ts'

/** Knows who sends requests. */
export interface Principals {
  /**
   * Who sent a request. `credentials`: the keys in its headers. Undefined: it shows nothing to go by.
   * Rejects with KEY_REFUSED where what it shows is not valid; the answer is put off for an address that keeps trying.
   */
  of(request: IncomingMessage, credentials: readonly string[]): Promise<Principal | undefined>
  /** Counts a key or login that was refused, and resolves when the answer may be given: later for an address that keeps trying. `isTold`: it is worth a record, as not all of many are. */
  refused(kind: 'key' | 'login', request: IncomingMessage): Promise<{ readonly isTold: boolean }>
  /** The header that gives the cookie of a login another value, where it is due. */
  renewed(request: IncomingMessage): Promise<string | undefined>
  /** The key that somebody showed or logged in with still holds; true for who needs none. */
  holds(principal: Principal): boolean
  /** How many keys and logins were refused. */
  readonly refusals: { readonly key: number; readonly login: number }
  /** Some live key may administer. */
  readonly hasAdmin: boolean
}

declare module 'guard-gateway/core' {
  interface Services {
    principals: Principals
  }
}
