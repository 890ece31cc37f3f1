import type { Match, Mode } from 'guard-gateway/core'
import type { Policy } from '../policy.ts'
import type { JudgedRequest, SimulatedRequest } from './re-evaluate.ts'
import type { AfterFirstMatch, FlaggedSession, NotSimulated, RuleTotal } from './simulation.ts'
import { messageOf, steering, type Unseen, withoutDetector } from './unseen.ts'

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
  readonly #unseen = new Map<string, { reason: Unseen; sessions: number; requests: number }>()
  /** Models without a price that a rule about cost met. */
  readonly #unpriced = new Set<string>()
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
      unseen_sessions: 0,
      requests_after: 0,
      tokens_after: 0,
      cost_after_micro: 0,
    }))
  }

  /** Counts a session; matches before `since` are left out. */
  add(session_id: string, judged: readonly JudgedRequest[], since: number): void {
    this.sessions++
    this.requests += judged.length
    for (const rule of this.#rules) this.#look(rule, judged)
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
    return this.#policy.rules.flatMap((rule) => {
      const { id: rule_id, rule_type, action } = rule
      if (!rule.enabled) return []
      const known = this.#rules.find((one) => one.rule_id === rule_id)
      const all = { sessions: this.sessions, requests: this.requests }
      if (known === undefined)
        return { rule_id, reason: 'no_detector', ...all, message: withoutDetector(rule_id, rule_type) }
      const unseen = this.#unseen.get(rule_id)
      const entries: NotSimulated[] = []
      if (unseen !== undefined) {
        const message = messageOf(rule_id, unseen, this.sessions, [...this.#unpriced])
        entries.push({ rule_id, ...unseen, message })
      }
      if (action === 'steer' && this.#mode === 'enforce' && known.sessions > 0) {
        const { sessions, requests_after: requests } = known
        entries.push({ rule_id, reason: 'steers', sessions, requests, message: steering(rule_id, sessions) })
      }
      return entries
    })
  }

  /** The first block where there would have been one, else the first flag. */
  #verdict(judged: readonly JudgedRequest[], since: number): First | undefined {
    const blocking = this.#mode === 'enforce' ? firstOf(judged, since, stops) : undefined
    return blocking ?? firstOf(judged, since, () => true)
  }

  #look(rule: Sum, judged: readonly JudgedRequest[]): void {
    const blind = judged.filter(({ unseen }) => unseen.has(rule.rule_id))
    const reason = blind[0]?.unseen.get(rule.rule_id)
    if (reason === undefined) return
    rule.unseen_sessions++
    const sum = this.#unseen.get(rule.rule_id) ?? { reason, sessions: 0, requests: 0 }
    sum.sessions++
    sum.requests += blind.length
    this.#unseen.set(rule.rule_id, sum)
    if (reason === 'no_price') for (const { record } of blind) this.#unpriced.add(record.model_requested)
  }
}

/** A pause refuses the request, too. */
const stops = ({ action }: Match): boolean => action === 'block' || action === 'pause'

const firstOf = (
  judged: readonly JudgedRequest[],
  since: number,
  isCounted: (match: Match) => boolean,
): First | undefined => {
  for (const [index, { record, matches }] of judged.entries()) {
    if (record.received_at < since) continue
    const match = matches.find((one) => one.probe !== true && isCounted(one))
    if (match !== undefined) return { match, index }
  }
}

const count = (rule: Sum, { match, index }: First, judged: readonly JudgedRequest[]): void => {
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
  judged: readonly JudgedRequest[],
  mode: Mode,
): FlaggedSession => {
  const record = judged[index]?.record
  return {
    session_id,
    decision: mode === 'enforce' && stops(match) ? 'block' : 'shadow_flag',
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

const afterwards = (judged: readonly JudgedRequest[], index: number): AfterFirstMatch => {
  const after = judged.slice(index + 1).map(({ record }) => record)
  return {
    requests_after: after.length,
    tokens_after: total(after, ({ total_tokens }) => total_tokens),
    cost_after_micro: total(after, ({ cost_micro }) => cost_micro ?? 0),
  }
}

const total = (records: readonly SimulatedRequest[], of: (record: SimulatedRequest) => number): number =>
  records.reduce((sum, record) => sum + of(record), 0)
