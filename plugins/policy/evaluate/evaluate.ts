import type { Call, Evidence, Finding, Match, Row, Session, Totals } from 'guard-gateway/core'
import { cutText } from '#lib/text'
import type { ThreadPlacement } from '#lib/threads'
import type { History } from '../history/history.ts'
import type { ActiveRule, Policy } from '../policy.ts'
import type { EvidenceSources } from './evidence-sources.ts'

const MESSAGE_CHARS = 200

/** The result of evaluating all rules on a request. */
export interface Verdict {
  /** In the order of the policy. */
  readonly matches: readonly Match[]
  /** Ids of rules whose detector threw. */
  readonly faults: readonly string[]
}

const noMatch: Verdict = Object.freeze({ matches: Object.freeze([]), faults: Object.freeze([]) })

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * Evaluates every rule. A detector that throws is no match: `fault` is called, and the others are still evaluated.
 * Without `sources`, rules about usage in a period and rules that compare starts never match.
 */
export const evaluate = (
  policy: Policy,
  call: Call,
  session: Session,
  history: History,
  place: ThreadPlacement,
  row: Row,
  fault: (error: unknown, where: string) => void,
  sources?: EvidenceSources,
): Verdict => {
  const [first] = policy.active
  if (first === undefined) return noMatch
  const evidence: Writable<Evidence> = {
    rule: first.rule,
    call,
    row,
    past: history.window,
    turns: place.turns,
    session: totalsOf(session, history),
  }
  let matches = noMatch.matches
  let faults = noMatch.faults
  for (const active of policy.active) {
    try {
      const match = matchOf(active, evidence, place, history, session, sources)
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
  place: ThreadPlacement,
  history: History,
  session: Session,
  sources: EvidenceSources | undefined,
): Match | undefined => {
  const { rule, detector, period } = active
  if (place.original !== undefined && detector.kind === 'loop') return inherited(active, place.original, history)
  evidence.rule = rule
  if (period !== undefined && sources === undefined) return undefined
  const found = detector.detect(evidenceFor(active, evidence, session, history, sources))
  if (found === undefined) return undefined
  const finding = typeof found === 'string' ? { message: found, evidence: 'session' as const } : found
  return matched(active, withRequestIds(finding, evidence.row, history))
}

const evidenceFor = (
  { narrow, period, detector }: ActiveRule,
  evidence: Evidence,
  session: Session,
  history: History,
  sources: EvidenceSources | undefined,
): Evidence => {
  if (narrow) return inThread(evidence, session, history)
  if (sources === undefined) return evidence
  const { call, row } = evidence
  if (period !== undefined) return { ...evidence, session: sources.totals(period, call) }
  const starts = detector.compares === 'starts' ? sources.starts(detector.id, call, row, session) : undefined
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

/** The evidence for a rule with `scope: thread`: the rows and totals of one conversation. */
const inThread = (evidence: Evidence, session: Session, history: History): Evidence => {
  const { thread } = evidence.row
  return {
    ...evidence,
    past: evidence.past.filter((row) => row.thread === thread),
    session: { ...totalsOf(session, history), ...history.usageOf(thread) },
  }
}

const NOWHERE: NonNullable<Finding['where']> = Object.freeze([])

const isStopping = (action: string): boolean => action === 'block' || action === 'pause'

/** A finding as a rule's match; results and places that it leaves open are null and empty. */
export const matched = ({ rule, detector }: ActiveRule, finding: Finding): Match => ({
  where: NOWHERE,
  results_equal: null,
  ...finding,
  // a detector cannot overwrite the fields of the rule
  rule_id: rule.id,
  rule_type: rule.rule_type,
  code: detector.code,
  action: detector.advisory === true && isStopping(rule.action) ? 'steer' : rule.action,
  threshold: rule.threshold,
  window_size: rule.window_size,
  message: cutText(finding.message, MESSAGE_CHARS),
})

/** A retry inherits the match of its original, unless the session was resumed since or the rule was removed. */
const inherited = (active: ActiveRule, original: Row, history: History): Match | undefined => {
  const { rule } = active
  const match = original.matches.find(({ rule_id, rule_type }) => rule_id === rule.id && rule_type === rule.rule_type)
  return match !== undefined && history.window.includes(original) ? { ...matched(active, match), ...match } : undefined
}

/** Adds the id of the first request that held it to each turn of a finding, as far as the thread's rows are in memory. */
const withRequestIds = (finding: Finding, row: Row, history: History): Finding => {
  const { where } = finding
  if (finding.evidence !== 'history' || where === undefined) return finding
  const ids = firstHolders(row, history, Math.max(...where.map((place) => ('turn' in place ? -place.turn : 0))))
  return {
    ...finding,
    where: where.map((place) => {
      const request = 'turn' in place ? ids[-place.turn - 1] : undefined
      return request === undefined ? place : { ...place, request }
    }),
  }
}

/** Ids of the requests whose new turns these were, the last turn first. */
const firstHolders = (row: Row, { rows }: History, maxHolders: number): string[] => {
  const byId = new Map(rows.map((known) => [known.id, known]))
  const ids: string[] = []
  let holder: Row | undefined = row
  while (holder !== undefined && ids.length < maxHolders) {
    for (let count = holder.new_turns.length; count > 0; count--) ids.push(holder.id)
    holder = holder.parent === null ? undefined : byId.get(holder.parent)
  }
  return ids
}
