import { serialize } from 'node:v8'
import type { Match } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { callOf, NOON } from '../kit.ts'
import type { Case } from './case.ts'
import type { Judge } from './judge.ts'
import { latencyOf, type Observation, quantile, type RunFacts } from './observation.ts'
import { sessionAt } from './session.ts'
import type { Subject } from './subjects.ts'
import { verdictOf } from './verdict.ts'

const SECOND = 1000
const ROWS_KEPT = 64

/** A subject under watch; its rules go by `prefix` and their own id. */
export interface Watched {
  readonly subject: Subject
  readonly rule_ids: readonly string[]
  /** Only blocking rules raise an alarm, unless there are none. */
  readonly flags_count: boolean
}

/** What a case showed of one subject. */
export interface Seen {
  alarm: { readonly step: number; readonly match: Match } | null
  matches: number
  readonly took: number[]
}

/** What a case was like, whoever watched. */
interface Played {
  readonly tokens: readonly number[]
  readonly bytes: readonly number[]
  /** Of the rows that a session keeps. */
  readonly row_bytes: number
}

/** The same, and the bytes that a subject's detectors remember of it. */
type Remembered = Played & { readonly remembered: number }

/** Rules of all subjects in one list, under ids that tell whose they are. */
export const watch = (
  subjects: readonly Subject[],
): { readonly watched: readonly Watched[]; readonly rules: readonly object[] } => {
  const rules = subjects.map((subject, place) =>
    subject.rules.map((rule, number) => ({
      ...rule,
      id: `${place}.${number}.${rule.id ?? rule.rule_type}`.slice(0, 64),
    })),
  )
  const watched = subjects.map((subject, place) => ({
    subject,
    rule_ids: (rules[place] ?? []).map(({ id }) => id),
    flags_count: subject.rules.every(({ action = 'block' }) => action !== 'block'),
  }))
  return { watched, rules: rules.flat() }
}

/** Plays a case to its end in shadow mode, and says of every subject how it did. */
export const observe = async (
  one: Case,
  watched: readonly Watched[],
  judge: Judge,
  facts: RunFacts,
): Promise<readonly Observation[]> => {
  const seen = watched.map(unseen)
  const played = await play(one, judge, (step, matches) => {
    for (const [place, of] of watched.entries()) {
      const mine = seen[place]
      if (mine !== undefined) note(mine, of, step, matches, judge)
    }
  })
  return watched.map((of, place) => {
    const remembered = judge.remembered(new Set(of.subject.rules.map(({ rule_type }) => rule_type)))
    return observation(one, of, seen[place] ?? unseen(), { ...played, remembered }, facts)
  })
}

const play = async (
  one: Case,
  judge: Judge,
  tell: (step: number, matches: readonly Match[]) => void,
): Promise<Played> => {
  const session = sessionAt(`bench ${one.id}`, NOON)
  judge.forget()
  const tokens: number[] = []
  const bytes: number[] = []
  const rows: object[] = []
  for (const ask of one.asks()) {
    const call = callOf(messages, ask.body, session.row.id, NOON + tokens.length * 10 * SECOND)
    call.session = session
    session.open++
    const decision = await judge.decide(call)
    tokens.push(ask.tokens)
    bytes.push(ask.body.length)
    if (decision.row !== null) rows.push({ ...decision.row, matches: undefined })
    tell(tokens.length, decision.matches)
    await judge.settle(call, decision, ask)
    session.open--
  }
  return { tokens, bytes, row_bytes: serialize(rows.slice(-ROWS_KEPT)).length }
}

const note = (
  mine: Seen,
  { rule_ids, flags_count }: Watched,
  step: number,
  matches: readonly Match[],
  judge: Judge,
): void => {
  for (const match of matches) {
    if (!rule_ids.includes(match.rule_id)) continue
    mine.matches++
    if (match.probe !== true && (flags_count || match.action === 'block')) mine.alarm ??= { step, match }
  }
  mine.took.push(rule_ids.reduce((sum, id) => sum + judge.took(id), 0))
}

const observation = (one: Case, { subject }: Watched, seen: Seen, played: Remembered, facts: RunFacts): Observation => {
  const { id, version, rule_type, params } = subject
  const missing = subject.needs.some((need) => !one.holds.has(need))
  const { alarm, matches, took } = missing ? unseen() : seen
  return {
    ...facts,
    detector: { id, version, rule_type, params },
    suite: one.suite,
    case_id: one.id,
    source: one.source,
    task: one.task,
    split: one.split,
    style: 'messages',
    tier: null,
    kind: one.kind,
    label: one.label,
    expected: null,
    loop_start_step: one.loop_start_step,
    resolved: one.resolved,
    ...said(alarm),
    matches,
    ...verdictOf(one, alarm?.step ?? null, missing),
    ...savings(played, alarm?.step ?? null),
    tokens_estimated: one.tokens_estimated,
    ...speedOf(took),
    body_bytes_p50: quantile(played.bytes, 0.5),
    state_bytes: played.row_bytes + played.remembered,
    error: missing ? 'NO_EVIDENCE' : null,
  }
}

const unseen = (): Seen => ({ alarm: null, matches: 0, took: [] })

const said = (alarm: Seen['alarm']): Pick<Observation, 'decision' | 'reason' | 'rule_id'> => {
  if (alarm === null) return { decision: 'allow', reason: null, rule_id: null }
  const { action, code, rule_id } = alarm.match
  return {
    decision: action === 'block' ? 'block' : 'shadow_flag',
    reason: code,
    rule_id: rule_id.replace(/^\d+\.\d+\./, ''),
  }
}

const speedOf = (took: readonly number[]): Pick<Observation, 'latency_ns' | 'ops_per_second'> => {
  const latency_ns = latencyOf(took)
  const mean = latency_ns?.mean ?? 0
  return { latency_ns, ops_per_second: mean === 0 ? null : Math.round(1e9 / mean) }
}

const savings = ({ tokens }: Played, step: number | null) => {
  const after = step === null ? [] : tokens.slice(step)
  return {
    requests_total: tokens.length,
    requests_after: after.length,
    steps_saved: after.length,
    tokens_total: sum(tokens),
    tokens_saved: sum(after),
    cost_saved_micro: null,
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0)
