import type { Call, Evidence, Finding, Match, Row, Session, Totals } from 'guard-gateway/core'
import { cutText } from 'guard-gateway/lib/text'
import type { Place } from 'guard-gateway/lib/threads'
import type { Beyond } from './beyond.ts'
import type { History } from './history.ts'
import type { ActiveRule, Policy } from './policy.ts'
import { namingRequests } from './requests.ts'

const MESSAGE_CHARS = 200

/** What the rules said of a request. */
export interface Verdict {
  /** In the order of the policy. */
  readonly matches: readonly Match[]
  /** Ids of rules whose detector threw. */
  readonly faults: readonly string[]
}

const quiet: Verdict = Object.freeze({ matches: Object.freeze([]), faults: Object.freeze([]) })

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * Evaluates every rule. A detector that throws is no match: `fault` is told, and the others still speak.
 * Without `beyond`, rules about what an agent or a project uses in a period are silent, and so are those that compare starts.
 */
export const evaluate = (
  policy: Policy,
  call: Call,
  session: Session,
  history: History,
  place: Place,
  row: Row,
  fault: (error: unknown, where: string) => void,
  beyond?: Beyond,
): Verdict => {
  const [first] = policy.active
  if (first === undefined) return quiet
  const evidence: Writable<Evidence> = {
    rule: first.rule,
    call,
    row,
    past: history.window,
    turns: place.turns,
    session: totalsOf(session, history),
  }
  let matches = quiet.matches
  let faults = quiet.faults
  for (const active of policy.active) {
    try {
      const match = matchOf(active, evidence, place, history, session, beyond)
      if (match !== undefined) matches = [...matches, match]
    } catch (error) {
      fault(error, `detector:${active.detector.id}`)
      faults = [...faults, active.rule.id]
    }
  }
  return { matches, faults }
}

const matchOf = (
  active: ActiveRule,
  evidence: Writable<Evidence>,
  place: Place,
  history: History,
  session: Session,
  beyond: Beyond | undefined,
): Match | undefined => {
  const { rule, detector, period } = active
  if (place.original !== undefined && detector.kind === 'loop') return inherited(active, place.original, history)
  evidence.rule = rule
  if (period !== undefined && beyond === undefined) return undefined
  const found = detector.detect(shownTo(active, evidence, session, history, beyond))
  if (found === undefined) return undefined
  const finding = typeof found === 'string' ? { message: found, evidence: 'session' as const } : found
  return matched(active, namingRequests(finding, evidence.row, history))
}

const shownTo = (
  { narrow, period, detector }: ActiveRule,
  evidence: Evidence,
  session: Session,
  history: History,
  beyond: Beyond | undefined,
): Evidence => {
  if (narrow) return inThread(evidence, session, history)
  if (beyond === undefined) return evidence
  const { call, row } = evidence
  if (period !== undefined) return { ...evidence, session: beyond.totals(period, call) }
  const starts = detector.compares === 'starts' ? beyond.starts(detector.id, call, row, session) : undefined
  return starts === undefined ? evidence : { ...evidence, starts }
}

export const totalsOf = ({ row }: Session, history: History): Totals => ({
  requests: row.requests,
  failed: row.errors,
  unpriced: history.unpriced,
  tokens: row.total_tokens,
  cache_read_tokens: row.cache_read_tokens ?? 0,
  cost_micro: row.cost_micro,
  reserved: history.reserved,
  outcomes: history.outcomes,
  probe_open: history.probe !== null,
})

/** What a rule with `scope: thread` is shown: the rows and totals of one conversation. */
const inThread = (evidence: Evidence, session: Session, history: History): Evidence => {
  const { thread } = evidence.row
  return {
    ...evidence,
    past: evidence.past.filter((row) => row.thread === thread),
    session: { ...totalsOf(session, history), ...history.usedBy(thread) },
  }
}

const NOWHERE: NonNullable<Finding['where']> = Object.freeze([])

/** A finding as a rule's match; what it leaves open about results and places is told as such. */
export const matched = ({ rule, detector }: ActiveRule, finding: Finding): Match => ({
  where: NOWHERE,
  results_equal: null,
  ...finding,
  // what the rule says is no matter of the detector's
  rule_id: rule.id,
  rule_type: rule.rule_type,
  code: detector.code,
  action: rule.action,
  threshold: rule.threshold,
  window_size: rule.window_size,
  message: cutText(finding.message, MESSAGE_CHARS),
})

/** Another attempt is what its original was, unless a resume has been since, or the rule is gone. */
const inherited = (active: ActiveRule, original: Row, history: History): Match | undefined => {
  const { rule } = active
  const match = original.matches.find(({ rule_id, rule_type }) => rule_id === rule.id && rule_type === rule.rule_type)
  return match !== undefined && history.window.includes(original) ? { ...matched(active, match), ...match } : undefined
}
