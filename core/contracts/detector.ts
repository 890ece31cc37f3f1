import type { Static, TSchema } from 'typebox'
import type { Call, Outcome } from '../call.ts'
import type { Finding, Row } from '../decision.ts'
import type { Turn } from '../turns.ts'

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

/** A stretch of the calendar after which a budget starts over. */
export type Per = 'minute' | 'hour' | 'day' | 'week' | 'month'

/** What a budget beyond one session is of: all that an agent, or a project, uses in a stretch of the calendar. */
export interface Period {
  readonly scope: 'agent' | 'project'
  readonly per: Per
}

/** A period at a time. */
export interface PeriodNow extends Period {
  /** When the next one begins, milliseconds since 1970. */
  readonly resets_at: number
  /** The same in words: `the next hour begins at 15:00 Europe/Berlin`. */
  readonly next: string
  /** The request has an agent; those without one are counted together. */
  readonly named: boolean
}

/** How a finished request ended, in completion order. */
export interface Ended {
  readonly id: string
  readonly ended_at: number
  /** The same on the monotonic clock; not known of requests from before a restart. */
  readonly ended_tick?: number | undefined
  readonly outcome: Outcome
  /** Null unless it ended in an error. */
  readonly error_fingerprint: string | null
  /** Its reply reasoned, and held neither a word nor a call; not known of requests from before a restart. */
  readonly wordless?: true
}

/**
 * What a session has used so far, this request not included; with `scope: thread` one conversation of it, with `scope: agent` or
 * `project` all requests of those that came in the present period.
 */
export interface Totals {
  /** Forwarded, those under way and retries included. */
  readonly requests: number
  /** Of these, those that the upstream refused, that broke off, or that never reached it. */
  readonly failed: number
  /** Of these, those that used tokens for which nobody knows a price. */
  readonly unpriced: number
  readonly tokens: number
  /** Of these, those that were read from a provider's cache; absent for none. */
  readonly cache_read_tokens?: number
  /** Millionths of the billing currency; models without a price count 0. */
  readonly cost_micro: number
  /** Tokens held by requests under way. */
  readonly reserved: number
  /** Oldest first, since the last resume. */
  readonly outcomes: readonly Ended[]
  /** A probe is under way. */
  readonly probe_open: boolean
  /** Of which period these are; absent for those of a session or a conversation, and only those tell outcomes. */
  readonly period?: PeriodNow
}

/** A start of an agent: a conversation that began with the same words as another one of the same project and agent (or program, where no agent is named), with tools and nothing done yet. */
export interface Start {
  readonly session_id: string
  /** Of its first request. */
  readonly request_id: string
  /** When its first request arrived, milliseconds since 1970. */
  readonly at: number
  /** The same on the monotonic clock; not known of requests from before a restart. */
  readonly tick?: number | undefined
  /** When its last request so far ended, milliseconds since 1970; null: one is under way. */
  readonly ended_at: number | null
  readonly requests: number
  /** Of these, those that failed. */
  readonly failed: number
  /** Results of tool calls that it brought and no earlier start had brought. */
  readonly fresh: number
}

/** Everything a detector may look at: hashes, names and counts, never text. */
export interface Evidence<Params = Readonly<Record<string, unknown>>> {
  readonly rule: Rule<Params>
  readonly call: Call
  /** The request in hand as a row; its `keys` are those that count. */
  readonly row: Row
  /** Earlier rows, newest first: forwarded, no retries, after the resume mark; with `scope: thread` those of its thread. */
  readonly past: readonly Row[]
  /** Assistant turns of the body after the resume mark, oldest first. */
  readonly turns: readonly Turn[]
  readonly session: Totals
  /** Earlier starts that began as this request, newest first, at most 32; there for detectors that compare them, if this request is a start. */
  readonly starts?: readonly Start[]
}

/** Sees the pieces of one reply's text in order, keeps none of them, and speaks at most once. */
export interface TextWatch {
  push(text: string): Finding | undefined
  /** Something other than text came between: a tool call, a reasoning block. */
  gap?(): void
}

/**
 * Recognises one pattern. `id` is the rule_type that selects it, `code` the reason it gives.
 * `detect` is pure: no I/O, no clock but `call.at`, no memory between calls; a string is short for `{ message, evidence: 'session' }`.
 */
export interface Detector<Params extends TSchema = TSchema> {
  readonly id: string
  readonly code: string
  /** What a block of it means, without a full stop. If absent, that a rule of its type has matched. */
  readonly summary?: string
  /** What a client that is blocked can do. If absent, advice for its kind. */
  readonly help?: string
  readonly version: string
  readonly defaults: {
    readonly threshold: number
    readonly window_size: number
    readonly params?: Static<Params>
    /** `block` if absent. */
    readonly action?: string
  }
  /** What `rule.threshold` counts, in the plural: `tokens`; who sets a rule is told. */
  readonly unit?: string
  /** Schema of `rule.params`; unknown params are refused. */
  readonly params?: Params
  /** Loop rules are inherited by another attempt of the same request and quieted by a resume; budget and outcome rules are judged anew. */
  readonly kind: 'loop' | 'outcome' | 'budget'
  /** What it finds is too little to stop anybody for: its rules tell the model, as `steer` does, and never refuse. */
  readonly advisory?: true
  /** Without these its silence says nothing: whoever sets, records or simulates a rule of it is told where they are missing. */
  readonly needs?: 'prices'
  /** Is shown earlier starts; its measure is what starts are known by: text that is equal where they begin alike, empty for what is none. */
  readonly compares?: 'starts'
  /** What contradicts itself in a rule whose params each fit the schema; `message` goes on behind the name of the param. */
  faultIn?(rule: Rule): { readonly param: string; readonly message: string } | undefined
  /** Whether a rule with these numbers can ever match; who writes a policy is warned of one that cannot. */
  reachable?(rule: Rule): boolean
  /**
   * A fact of this request, kept on its row as `row.measures[id]`: JSON of at most 256 bytes, or undefined for nothing.
   * `memory` is the thread's, bounded by the detector, lost with the process and to be rebuilt from a body; at most 256 KiB.
   */
  measure?(call: Call, memory: Map<string, unknown>): unknown
  /** Watches the text of one reply as it streams by; absent for a detector that judges requests only. */
  stream?(rule: Rule<Static<Params>>): TextWatch
  detect(evidence: Evidence<Static<Params>>): Finding | string | undefined
  /** Of a budget: how much of `rule.threshold` is used, so that it can be told what is left. */
  used?(evidence: Pick<Evidence<Static<Params>>, 'rule' | 'session'>): number
}
