import type { Identity } from '../call.ts'
import type { FieldFault } from './page.ts'

/** An agent key as it is kept: never the key, only its SHA-256 in hex. */
export interface AgentKey {
  readonly id: string
  readonly agent_id: string
  readonly hash: string
}

/** The keys that open the model proxy: the gateway's own, and those of agents. */
export interface Keys {
  setGateway(key: string): void
  add(key: AgentKey): void
  /** `hash`: SHA-256 of the key in hex. */
  remove(hash: string): void
  /** Who the presented credentials belong to: an agent's key before the gateway's, undefined if none is valid or two agents' keys are given. */
  identify(credentials: readonly string[]): Identity | undefined
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
  faultIn(fields: URLSearchParams): FieldFault | undefined
}

/** Who may call, and who may loosen what holds agents back. */
export interface Access {
  readonly keys: Keys
  readonly approver: Approver
}
