import type { CallRecord, Match, Mode } from 'guard-gateway/core'
import type { ActiveRule, Policy } from '../policy.ts'
import type { Judged } from './replayed.ts'
import type { Afterwards, FlaggedSession, NotSimulated, RuleTotal } from './simulation.ts'

/** The first time that something was found in a session. */
interface First {
  readonly match: Match
  readonly index: number
}

type Sum = { -readonly [K in keyof RuleTotal]: RuleTotal[K] }

/** Adds up what rules say of sessions. */
export class Totals {
  readonly flagged: FlaggedSession[] = []
  readonly #policy: Policy
  readonly #mode: Mode
  readonly #rules: readonly Sum[]
  readonly #missing = new Map<string, number>()
  sessions = 0
  requests = 0

  constructor(policy: Policy, mode: Mode) {
    this.#policy = policy
    this.#mode = mode
    this.#rules = policy.active.map(({ rule, detector }) => ({
      rule_id: rule.id,
      rule_type: rule.rule_type,
      code: detector.code,
      sessions: 0,
      share: 0,
      differing_results: 0,
      requests_after: 0,
      tokens_after: 0,
      cost_after_micro: 0,
    }))
  }

  /** Counts a session; what was found before `since` is not told. */
  add(session_id: string, judged: readonly Judged[], since: number): void {
    this.sessions++
    this.requests += judged.length
    for (const active of this.#policy.active) if (isMissing(active, judged)) this.#miss(active.rule.id)
    const verdict = this.#verdict(judged, since)
    if (verdict !== undefined) this.flagged.push(flaggedBy(session_id, verdict, judged, this.#mode))
    for (const rule of this.#rules) {
      const first = firstOf(judged, since, ({ rule_id }) => rule_id === rule.rule_id)
      if (first !== undefined) count(rule, first, judged)
    }
  }

  rules(): readonly RuleTotal[] {
    return this.#rules.map((rule) => ({ ...rule, share: this.sessions === 0 ? 0 : rule.sessions / this.sessions }))
  }

  notSimulated(): readonly NotSimulated[] {
    return [...this.#missing].map(([rule_id, sessions]) => ({
      rule_id,
      sessions,
      message: `What "${rule_id}" looks at was not recorded in ${sessions} of ${this.sessions} sessions.`,
    }))
  }

  /** The first block where there would have been one, else the first flag. */
  #verdict(judged: readonly Judged[], since: number): First | undefined {
    const blocking = this.#mode === 'enforce' ? firstOf(judged, since, ({ action }) => action === 'block') : undefined
    return blocking ?? firstOf(judged, since, () => true)
  }

  #miss(rule_id: string): void {
    this.#missing.set(rule_id, (this.#missing.get(rule_id) ?? 0) + 1)
  }
}

/** Texts of replies are never stored, and measures only while a rule asked for them. */
const isMissing = ({ detector }: ActiveRule, judged: readonly Judged[]): boolean =>
  detector.stream !== undefined ||
  (detector.measure !== undefined && judged.every(({ record }) => record.measures?.[detector.id] === undefined))

const firstOf = (judged: readonly Judged[], since: number, wanted: (match: Match) => boolean): First | undefined => {
  for (const [index, { record, matches }] of judged.entries()) {
    if (record.received_at < since) continue
    const match = matches.find((one) => one.probe !== true && wanted(one))
    if (match !== undefined) return { match, index }
  }
}

const count = (rule: Sum, { match, index }: First, judged: readonly Judged[]): void => {
  const after = afterwards(judged, index)
  rule.sessions++
  if (match.results_equal === false) rule.differing_results++
  rule.requests_after += after.requests_after
  rule.tokens_after += after.tokens_after
  rule.cost_after_micro += after.cost_after_micro
}

const flaggedBy = (
  session_id: string,
  { match, index }: First,
  judged: readonly Judged[],
  mode: Mode,
): FlaggedSession => {
  const record = judged[index]?.record
  return {
    session_id,
    decision: mode === 'enforce' && match.action === 'block' ? 'block' : 'shadow_flag',
    first_request_id: record?.id ?? '',
    at: record?.received_at ?? 0,
    step: index + 1,
    code: match.code,
    rule_id: match.rule_id,
    message: match.message,
    count: match.count ?? null,
    results_equal: match.results_equal ?? null,
    ...afterwards(judged, index),
  }
}

const afterwards = (judged: readonly Judged[], index: number): Afterwards => {
  const after = judged.slice(index + 1).map(({ record }) => record)
  return {
    requests_after: after.length,
    tokens_after: total(after, ({ total_tokens }) => total_tokens),
    cost_after_micro: total(after, ({ cost_micro }) => cost_micro ?? 0),
  }
}

const total = (records: readonly CallRecord[], of: (record: CallRecord) => number): number =>
  records.reduce((sum, record) => sum + of(record), 0)
