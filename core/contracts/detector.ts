import type { Static, TSchema } from 'typebox'
import type { Call, Outcome, Turn } from '../call.ts'
import type { Finding, Row } from '../decision.ts'

/** A rule of a policy, as stored and as evaluated. */
export interface Rule<Params = Readonly<Record<string, unknown>>> {
  readonly id: string
  readonly rule_type: string
  readonly threshold: number
  readonly window_size: number
  readonly action: string
  readonly enabled: boolean
  readonly params?: Params
  readonly note?: string
}

/** How a finished request ended, in completion order. */
export interface Ended {
  readonly id: string
  readonly ended_at: number
  readonly outcome: Outcome
  /** Null unless it ended in an error. */
  readonly error_fingerprint: string | null
}

/** What a session has used so far, this request not included. */
export interface Totals {
  /** Forwarded, those under way and retries included. */
  readonly requests: number
  readonly tokens: number
  /** Tokens held by requests under way. */
  readonly reserved: number
  /** Oldest first, since the last resume. */
  readonly outcomes: readonly Ended[]
  /** A probe is under way. */
  readonly probe_open: boolean
}

/** Everything a detector may look at: hashes, names and counts, never text. */
export interface Evidence<Params = Readonly<Record<string, unknown>>> {
  readonly rule: Rule<Params>
  readonly call: Call
  /** The request in hand as a row; its `keys` are those that count. */
  readonly row: Row
  /** Earlier rows, newest first: forwarded, no retries, after the resume mark. */
  readonly past: readonly Row[]
  /** Assistant turns of the body after the resume mark, oldest first. */
  readonly turns: readonly Turn[]
  readonly session: Totals
}

/**
 * Recognises one pattern. `id` is the rule_type that selects it, `code` the reason it gives.
 * `detect` is pure: no I/O, no clock but `call.at`, no memory between calls; a string is short for `{ message, evidence: 'session' }`.
 */
export interface Detector<Params extends TSchema = TSchema> {
  readonly id: string
  readonly code: string
  readonly version: string
  readonly defaults: { readonly threshold: number; readonly window_size: number; readonly params?: Static<Params> }
  /** Schema of `rule.params`; unknown params are refused. */
  readonly params?: Params
  /** Loop rules are inherited by another attempt of the same request and quieted by a resume; budget and outcome rules are judged anew. */
  readonly kind: 'loop' | 'outcome' | 'budget'
  /** Whether a rule with these numbers can ever match; who writes a policy is warned of one that cannot. */
  reachable?(rule: Rule): boolean
  detect(evidence: Evidence<Static<Params>>): Finding | string | undefined
}
