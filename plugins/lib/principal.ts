import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import { type Change, type Identity, Kind } from 'guard-gateway/core'

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

interface Running {
  readonly principal: Principal
  readonly projects: readonly string[] | null
}

/** Entered for requests beyond loopback alone, so elsewhere it costs nothing. */
const running = new AsyncLocalStorage<Running>()

/**
 * Does work in the name of a principal: `currentPrincipal` tells who it is, and reads of the storage see their projects alone.
 * `writing`: reads see everything, since what is written may meet anything; the work checks itself what it may write.
 */
export const runAs = <T>(principal: Principal, work: () => T, writing = false): T =>
  running.run({ principal, projects: writing ? null : principal.projects }, work)

/** In whose name this code runs; undefined: of nobody in particular, on loopback or by itself. */
export const currentPrincipal = (): Principal | undefined => running.getStore()?.principal

/** The same, where something must be said: whoever is on this machine. */
export const actorOf = (): Principal => currentPrincipal() ?? thisMachine

/** What a key may be for. `admin` includes all others. */
export const scopes = ['models', 'mcp', 'ingest', 'read', 'operate', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** What the gateway key and the keys of agents are for. */
export const programScopes: ReadonlySet<Scope> = new Set(['models', 'mcp', 'ingest'])

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text)

/** The scopes that a list stands for: `admin` is all of them. */
export const expandScopes = (list: readonly Scope[]): ReadonlySet<Scope> =>
  new Set(list.includes('admin') ? scopes : list)

export const hasScope = ({ scopes: held }: { readonly scopes: ReadonlySet<Scope> }, scope: Scope): boolean =>
  held.has(scope) || held.has('admin')

/** Whoever is behind a request beyond loopback showed a key, or logged in with one, that lets continue what is held back. */
export const mayOperate = (): boolean => {
  const principal = currentPrincipal()
  return principal !== undefined && hasScope(principal, 'operate')
}

/** The projects that whoever asks may see; null: all. */
export const visibleProjects = (): readonly string[] | null => running.getStore()?.projects ?? null

/** Whether whoever asks may see what belongs to a project; what belongs to none is for those who see all. */
export const sees = (project_id: string | null | undefined): boolean => {
  const projects = visibleProjects()
  return projects === null || (project_id !== null && project_id !== undefined && projects.includes(project_id))
}

/** Does work that serves everybody, such as filling a cache, whoever began it: its reads see all projects. */
export const everyProject = <T>(work: () => T): T => {
  const known = running.getStore()
  return known?.projects ? running.run({ ...known, projects: null }, work) : work()
}

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
