import type { Fragment, Kept } from '../fragment.ts'

/** Looks for the first secret at or behind `from`: configured credentials, users' patterns. */
export type Finder = (text: string, from: number) => readonly [start: number, end: number] | undefined

/** Hides secrets, each as `[REDACTED:<kind>]`. Never throws; what it cannot examine it hides as well. */
export interface Redactor {
  /** Deep, names and values; the value itself where nothing changed, a copy of its changed parts otherwise. Idempotent. */
  value<T>(value: T): T
  text(text: string): string
  /** An identifier is or holds a secret. Mail addresses are allowed in identifiers, and ids of OpenTelemetry's form are none. */
  looksSecret(id: string): boolean
}

/** The credentials of this process. They go in and never come out: one can only ask whether a text holds one, and where. */
export interface Secrets {
  /** How many were taken up: after one more, what held none may hold one. */
  readonly count: number
  /** Takes a credential up; an empty text is none. */
  add(value: string): void
  /** The text is or holds a credential, as it stands or percent-decoded. */
  holds(text: string): boolean
  /** Where the first credential at or after `from` stands. */
  readonly find: Finder
}

/** What hides secrets in all that is stored, logged or exported. */
export interface Redaction {
  readonly redactor: Redactor
  readonly secrets: Secrets
  /** Json values that were redacted already: a store writes them as they are. */
  readonly cleaned: WeakSet<object>
  /**
   * Sanitises, redacts and limits all that a fragment says; a large one in turns with other work. Its attributes are added to `cleaned`.
   * Rejects with TOO_DEEP, TOO_MANY_ATTRIBUTES or INVALID_TRACE and a pointer into the fragment.
   */
  fragment(fragment: Fragment): Promise<Kept>
}
