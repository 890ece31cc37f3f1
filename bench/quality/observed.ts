import { type Case, type Evidence, missingIn } from './case.ts'
import { latencyOf, type Observation, quantile, type RunFacts } from './observation.ts'
import { savingsOf } from './savings.ts'
import { verdictOf } from './verdict.ts'

/** The judge of a case: a detector, a rule set, or the loop guard of another agent. */
export type Judged = Observation['detector'] & { readonly needs: readonly Evidence[] }

/** The state of one subject during a case. */
export interface SubjectState {
  alarm: Alarm | null
  matches: number
  /** Nanoseconds per request. Empty without a measurement. */
  readonly rule_ns: number[]
}

/** The stopped request, counted from 1, and the reason. */
export interface Alarm {
  readonly step: number
  readonly action: string
  readonly code: string
  readonly rule_id: string
}

/** Measurements of a case that all subjects share. */
export interface Played {
  readonly tokens: readonly number[]
  /** Body sizes. Empty if no bodies were built. */
  readonly bytes: readonly number[]
  /** Size of the state of session and detectors at the end. Null without a measurement. */
  readonly state_bytes: number | null
}

export const initialState = (): SubjectState => ({ alarm: null, matches: 0, rule_ns: [] })

/** The observation of a subject on a case. */
export const observationOf = (
  one: Case,
  subject: Judged,
  seen: SubjectState,
  played: Played,
  facts: RunFacts,
): Observation => {
  const { id, kind, version, rule_type, params } = subject
  const missing = missingIn(one, subject.needs)
  const { alarm, matches, rule_ns } = missing ? initialState() : seen
  return {
    ...facts,
    detector: { id, kind, version, rule_type, params },
    suite: one.suite,
    case_id: one.id,
    collection: one.collection,
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
    ...replyTextOf(alarm),
    matches,
    ...verdictOf(one, alarm?.step ?? null, missing),
    ...savingsOf(one, played.tokens, alarm?.step ?? null, facts.usd_per_million_tokens),
    tokens_estimated: one.tokens_estimated,
    ...speedOf(rule_ns),
    body_bytes_p50: played.bytes.length === 0 ? null : quantile(played.bytes, 0.5),
    state_bytes: played.state_bytes,
    error: missing ? 'NO_EVIDENCE' : null,
  }
}

const replyTextOf = (alarm: Alarm | null): Pick<Observation, 'decision' | 'reason' | 'rule_id'> => {
  if (alarm === null) return { decision: 'allow', reason: null, rule_id: null }
  const { action, code, rule_id } = alarm
  return { decision: isStop(action) ? 'block' : 'shadow_flag', reason: code, rule_id }
}

/** A paused run waits for a person; the next match of a steering rule stops it. */
export const isStop = (action: string): boolean => ['block', 'pause', 'steer'].includes(action)

const speedOf = (rule_ns: readonly number[]): Pick<Observation, 'latency_ns' | 'ops_per_second'> => {
  const latency_ns = latencyOf(rule_ns)
  const mean = latency_ns?.mean ?? 0
  return { latency_ns, ops_per_second: mean === 0 ? null : Math.round(1e9 / mean) }
}
