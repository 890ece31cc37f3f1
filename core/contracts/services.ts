import type { Identity } from '../call.ts'
import type { CleanedFragment, Fragment, FragmentRun } from '../fragment.ts'
import type { Store } from './storage.ts'

/**
 * Types of services by name. A feature merges its own in:
 * `declare module 'guard-gateway/core' { interface Services { quotas: Quotas } }`.
 */
export interface Services {
  /** A gateway does not open without this one, `access` and `store`. */
  redaction: Redaction
  access: Access
  store: Store
  previews: PreviewBytes
}

/** How many first bytes of a reply are kept for `settled.head`. */
export interface PreviewBytes {
  /** Of a stream of events. */
  readonly stream: number
  /** Of any other reply. */
  readonly whole: number
}

/** An agent key as it is kept: never the key, only its SHA-256 in hex. */
export interface AgentKey {
  readonly id: string
  readonly agent_id: string
  readonly hash: string
}

/** The keys that open the model proxy: the gateway's own, those of agents, and those of sources. */
export interface Keys {
  setGateway(key: string): void
  add(key: AgentKey): void
  /** `hash`: SHA-256 of the key in hex. */
  remove(hash: string): void
  /** Who the presented credentials belong to: an agent's key before the gateway's, undefined if none is valid or two agents' keys are given. */
  identify(credentials: readonly string[]): Identity | undefined
  /** The key of this id, whosever it is, still opens the proxy: it may have been revoked or have expired since it was identified. */
  isLive(id: string): boolean
}

/** Who may loosen what holds agents back (approve, trust tools, resume, change rules, issue keys): anybody on this machine, or who knows a key. */
export interface Approver {
  /** A key is set. */
  readonly needsKey: boolean
  /** Asks for a key from now on, if none is set; one that is set stays. `key` is as for `approver`. */
  demand(key: string): void
  /** Shown by parts of this process that ask its own interface; another one in every process. */
  readonly pass: string
  /** Throws APPROVER_KEY_REQUIRED unless the key is the right one, or none is needed. */
  check(key: string | undefined): void
  /** Checks the key in the header of a request. Throws APPROVER_KEY_REQUIRED. */
  checkHeaders(headers: Readonly<Record<string, unknown>>): void
  /** What is wrong with the key in a form. */
  faultIn(fields: URLSearchParams): { readonly field: string; readonly message: string } | undefined
}

/** Who may call, and who may loosen what holds agents back. */
export interface Access {
  readonly keys: Keys
  readonly approver: Approver
}

/** Looks for the first secret at or behind `from`: configured credentials, users' patterns. */
export type Finder = (text: string, from: number) => readonly [start: number, end: number] | undefined

/** Hides secrets, each as `[REDACTED:<kind>]`. Never throws; what it cannot examine it hides as well. */
export interface Redactor {
  /** Deep, names and values; the value itself where nothing changed, a copy of its changed parts otherwise. Idempotent. */
  value<T>(value: T): T
  text(text: string): string
  /** What an identifier is. Mail addresses are allowed in identifiers, and ids of OpenTelemetry's form are plain. */
  judgeId(id: string): IdJudgement
}

/** `suspect`: it looks like a secret. `secret`: it certainly holds one, a credential of this process or a key whose form says so. */
export type IdJudgement = 'plain' | 'suspect' | 'secret'

/** The credentials of this process. They go in and never come out: one can only ask whether a text holds one, and where. */
export interface Secrets {
  /** Takes a credential up; an empty text is none. */
  add(value: string): void
  /** The text is or holds a credential, as it stands or percent-decoded. */
  holds(text: string): boolean
  /** Where the first credential at or after `from` stands. */
  readonly find: Finder
}

/** Whose texts are redacted together; without a project those of the default one. */
export type RedactionScope = {
  readonly [K in 'project_id' | 'default_project_id' | 'trace_id' | 'session_id']?: FragmentRun[K] | undefined
}

/** What hides secrets in all that is stored, logged or exported. */
export interface Redaction {
  readonly redactor: Redactor
  readonly secrets: Secrets
  /** Json values that were redacted already: a store writes them as they are. */
  readonly cleaned: WeakSet<object>
  /**
   * Does work with a redactor that hides besides what was hidden before under a telling name in the same session or run of the same project;
   * once more on what was hidden first in this work, since it may stand earlier. What is cut after redaction belongs in one work.
   */
  within<T>(scope: RedactionScope, work: (redact: Pick<Redactor, 'text' | 'value'>) => T | Promise<T>): Promise<T>
  /**
   * Sanitises, redacts and limits all that a fragment says; a large one in turns with other work. Its attributes are added to `cleaned`.
   * Rejects with TOO_DEEP, TOO_MANY_ATTRIBUTES or INVALID_TRACE and a pointer into the fragment.
   */
  fragment(fragment: Fragment): Promise<CleanedFragment>
}
