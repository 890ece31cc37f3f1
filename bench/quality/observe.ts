import { serialize } from 'node:v8'
import type { Detector, Match } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { callOf, NOON } from '../kit.ts'
import type { Case } from './case.ts'
import type { Judge } from './judge.ts'
import type { Observation, RunFacts } from './observation.ts'
import { initialState, isStop, observationOf, type SubjectState } from './observed.ts'
import { sessionAt } from './session.ts'
import type { Subject } from './subjects.ts'

const SECOND = 1000
const MAX_ROWS = 64

/** A subject and the ids of its rules in the policy, which have a prefix. */
export interface Watched {
  readonly subject: Subject
  readonly rule_ids: readonly string[]
  /** Those of the rules that may stop. */
  readonly stopping: ReadonlySet<string>
  /** True if rules without a stop count as alarms: the subject has no rule that stops. */
  readonly flags_count: boolean
}

/** The state of a subject, and the rules that have steered in the current run. */
type Watching = SubjectState & { readonly steered: Set<string> }

/** Measurements of a case that all subjects share. */
interface Played {
  readonly tokens: readonly number[]
  readonly bytes: readonly number[]
  /** Size of the rows that a session keeps. */
  readonly row_bytes: number
}

/** The rules of all subjects in one list. The prefix of an id identifies the subject. */
export const watch = (
  subjects: readonly Subject[],
  detectors: readonly Detector[],
): { readonly watched: readonly Watched[]; readonly rules: readonly object[] } => {
  const rules = subjects.map((subject, place) =>
    subject.rules.map((rule, number) => ({
      ...rule,
      id: `${place}.${number}.${rule.id ?? rule.rule_type}`.slice(0, 64),
    })),
  )
  const advisory = new Set(detectors.filter((one) => one.advisory === true).map(({ id }) => id))
  const watched = subjects.map((subject, place) => {
    const own = rules[place] ?? []
    const stopping = own.filter(({ rule_type, action = 'block' }) => isStop(action) && !advisory.has(rule_type))
    return {
      subject,
      rule_ids: own.map(({ id }) => id),
      stopping: new Set(stopping.map(({ id }) => id)),
      flags_count: stopping.length === 0,
    }
  })
  return { watched, rules: rules.flat() }
}

/** Plays a case to its end in shadow mode and returns an observation per subject. */
export const observe = async (
  one: Case,
  watched: readonly Watched[],
  judge: Judge,
  facts: RunFacts,
): Promise<readonly Observation[]> => {
  const seen = watched.map((): Watching => ({ ...initialState(), steered: new Set() }))
  const played = await play(one, judge, (step, matches) => {
    for (const [place, of] of watched.entries()) {
      const mine = seen[place]
      if (mine !== undefined) note(mine, of, step, matches, judge)
    }
  })
  return watched.map(({ subject }, place) => {
    const memoized = judge.memoized(new Set(subject.rules.map(({ rule_type }) => rule_type)))
    const state_bytes = played.row_bytes + memoized
    return observationOf(one, subject, seen[place] ?? initialState(), { ...played, state_bytes }, facts)
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
  for (const request of one.requests()) {
    const call = callOf(messages, request.body, session.row.id, NOON + tokens.length * 10 * SECOND, judge.reader)
    call.session = session
    session.open++
    const decision = await judge.decide(call)
    tokens.push(request.tokens)
    bytes.push(request.body.length)
    if (decision.row !== null) rows.push({ ...decision.row, matches: undefined })
    tell(tokens.length, decision.matches)
    await judge.settle(call, decision, request)
    session.open--
  }
  return { tokens, bytes, row_bytes: serialize(rows.slice(-MAX_ROWS)).length }
}

const note = (
  mine: Watching,
  { rule_ids, stopping, flags_count }: Watched,
  step: number,
  matches: readonly Match[],
  judge: Judge,
): void => {
  for (const match of matches) {
    const { rule_id, action, code } = match
    if (!rule_ids.includes(rule_id)) continue
    mine.matches++
    if (match.probe === true || !(flags_count || (stopping.has(rule_id) && stops(mine, match)))) continue
    mine.alarm ??= { step, action, code, rule_id: rule_id.replace(/^\d+\.\d+\./, '') }
  }
  mine.rule_ns.push(rule_ids.reduce((sum, id) => sum + judge.ruleNs(id), 0))
}

/** The first match of a steering rule passes with a message to the agent, which a recorded agent cannot react to. */
const stops = ({ steered }: Watching, { action, rule_id }: Match): boolean => {
  if (action !== 'steer') return isStop(action)
  if (steered.has(rule_id)) return true
  steered.add(rule_id)
  return false
}
