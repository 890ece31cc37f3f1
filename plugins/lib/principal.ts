import type { IncomingMessage } from 'node:http'
import { type Change, type Identity, Kind } from 'guard-gateway/core'
import type { Principal } from './principal/principal.ts'

/** What was done. Who did it is whoever the code runs for, unless said. */
export interface AuditEntry {
  /** What happened, as a name: `session.paused`. */
  readonly action: string
  /** Id of what it was done to. */
  readonly subject?: string | null | undefined
  readonly project_id?: string | null | undefined
  readonly details?: Readonly<Record<string, unknown>>
  readonly actor?: Principal
}

/** Keeps who did what. */
export interface AuditLog {
  /** The change that keeps it, for the batch that does it. */
  change(entry: AuditEntry): Change
  /** Keeps it after it was done; a failure is reported, and rejects nothing. */
  note(entry: AuditEntry): Promise<void>
}

declare module 'guard-gateway/core' {
  interface Services {
    audit: AuditLog
  }
}

/** What belongs into a batch that somebody has asked for: nothing where no plugin keeps who did what. */
export const auditedIn = (audit: AuditLog | undefined, entry: AuditEntry): readonly Change[] =>
  audit === undefined ? [] : [audit.change(entry)]

/** Knows who sends requests. */
export interface Principals {
  /**
   * Who sent a request. `credentials`: the keys in its headers. Undefined: it shows nothing to go by.
   * Rejects with KEY_REFUSED where what it shows is not valid; the answer is put off for an address that keeps trying.
   */
  of(request: IncomingMessage, credentials: readonly string[]): Promise<Principal | undefined>
  /** Counts a key or login that was refused, and resolves when the answer may be given: later for an address that keeps trying. `isRecorded`: it is worth a record, as not all of many are. */
  refused(kind: 'key' | 'login', request: IncomingMessage): Promise<{ readonly isRecorded: boolean }>
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

export {
  actorOf,
  currentPrincipal,
  everyProject,
  mayOperate,
  runAs,
  sees,
  visibleProjects,
} from './principal/current.ts'

export { type Principal, type PrincipalKind, requestPrincipals, thisMachine } from './principal/principal.ts'

export { expandScopes, hasScope, isScope, programScopes, type Scope, scopes } from './principal/scopes.ts'

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

/** Further keys, by their SHA-256 in hex. */
export interface KeySource {
  identify(hash: string): Identity | undefined
  /** The key of this id is one of this source, and still valid. */
  isLive(id: string): boolean
  /** Asks the storage for what is not known, or not for sure; undefined: nothing to ask. */
  lookUp(hash: string): Promise<void> | undefined
  /** Reads all keys anew. */
  refresh(): Promise<void>
}

declare module 'guard-gateway/core' {
  interface Keys {
    addSource(source: KeySource): void
    /** Asks sources, after which `identify` knows the keys of other processes too; undefined: nothing to ask. */
    lookUp(credentials: readonly string[]): Promise<unknown> | undefined
    /** Reads the keys of sources anew. */
    refresh(): Promise<void>
  }
}
