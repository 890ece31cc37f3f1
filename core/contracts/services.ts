import type { GuardError } from '../errors.ts'
import type { Access } from './access.ts'
import type { Ask, Page } from './page.ts'
import type { Redaction } from './redaction.ts'
import type { Requests } from './requests.ts'
import type { Rules } from './rules.ts'
import type { Sessions } from './sessions.ts'
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
  /** How model requests are read, where they come in. */
  requests: Requests
  sessions: Sessions
  rules: Rules
  documents: Documents
  previews: PreviewBytes
}

/** Whole documents, where pages are served. */
export interface Documents {
  /** Tells a person of an error. */
  error(error: GuardError, asked: { readonly url: string; readonly request_id: string }): string
  /** A page with its status, for a feature that takes a form by itself. */
  page(page: Page, ask: Ask): Promise<{ readonly status: number; readonly text: string }>
}

/** How many first bytes of a reply are kept for `settled.head`. */
export interface PreviewBytes {
  /** Of a stream of events. */
  readonly stream: number
  /** Of any other reply. */
  readonly whole: number
}
