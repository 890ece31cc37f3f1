import { type Scope, scopes } from './scopes.ts'

/** `key`: a program showed a key. `session`: a browser logged in. `proxy`: a proxy in front vouches for a person. `loopback`: somebody on this machine. */
export type PrincipalKind = 'key' | 'session' | 'proxy' | 'loopback'

/** Who sent a request, and what they may do. */
export interface Principal {
  /** What an audit record calls them: the name of a key, of a person. */
  readonly name: string
  readonly kind: PrincipalKind
  readonly scopes: ReadonlySet<Scope>
  /** The projects that they see; null: all. */
  readonly projects: readonly string[] | null
  /** The key that was shown or logged in with. */
  readonly key_id: string | null
}

/** Whoever reaches a listener on loopback, or works on the storage itself: all scopes, all projects. */
export const thisMachine: Principal = Object.freeze({
  name: 'loopback',
  kind: 'loopback',
  scopes: new Set(scopes),
  projects: null,
  key_id: null,
})

const PRINCIPAL = Symbol('principal')

interface KnownRequest {
  [PRINCIPAL]?: Principal
}

/** Who sent a request, by Node's request object; set when the request is admitted. Unset on routes of programs, which identify by keys alone. */
export const requestPrincipals = {
  get: (request: object): Principal | undefined => (request as KnownRequest)[PRINCIPAL],
  set: (request: object, principal: Principal): void => {
    ;(request as KnownRequest)[PRINCIPAL] = principal
  },
}
