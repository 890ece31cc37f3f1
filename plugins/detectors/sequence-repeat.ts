import {
  detector,
  type Evidence,
  type Finding,
  periodOf,
  type Row,
  requestPlaces,
  sameCalls,
  sameResults,
  type Turn,
  turnPlaces,
} from 'guard-gateway/core'
import { type Static, Type } from 'typebox'

const params = Type.Object(
  { result_aware: Type.Optional(Type.Boolean({ description: 'Turns are alike only if their results are, too' })) },
  { additionalProperties: false },
)

type Seen = Pick<Evidence<Static<typeof params>>, 'rule' | 'row' | 'past' | 'turns'>

/** A cycle of 2 to 5 different turns, or requests, that repeats. */
export const sequenceRepeat = detector({
  id: 'sequence_repeat',
  code: 'LOOP_SEQUENCE',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 15 },
  params,
  reachable: ({ threshold, window_size }) => 2 * threshold <= window_size,

  detect(evidence: Seen): Finding | undefined {
    return inTurns(evidence) ?? inRequests(evidence)
  },
})

const inTurns = (evidence: Seen): Finding | undefined => {
  const { rule, turns } = evidence
  const aware = rule.params?.result_aware === true
  const period = periodOf(
    evidence,
    aware ? sameOutcomes : sameTurns,
    unbroken(turns, rule.window_size, aware),
    rule.threshold,
  )
  if (period === undefined) return undefined
  return {
    message: `a sequence of ${period} tool turns was repeated ${rule.threshold} times`,
    evidence: 'history',
    count: rule.threshold,
    where: turnPlaces(steps(period * rule.threshold)),
    results_equal: resultsEqual(turns, period, period * rule.threshold),
  }
}

/** How many of the last turns stand together: a turn without calls, or a user message, breaks them apart. */
const unbroken = (turns: readonly Turn[], limit: number, aware: boolean): number => {
  let length = 0
  for (let index = turns.length - 1; index >= 0 && length < limit; index--, length++) {
    const turn = turns[index]
    if (turn === undefined || turn.user_after || turn.calls.length === 0) break
    if (aware && turn.calls.some((call) => call.result === null)) break
  }
  return length
}

const turnAt = ({ turns }: Seen, back: number): Turn | undefined => turns[turns.length - 1 - back]

const sameTurns = (evidence: Seen, a: number, b: number): boolean => {
  const one = turnAt(evidence, a)
  const other = turnAt(evidence, b)
  return one !== undefined && other !== undefined && sameCalls(one, other)
}

const sameOutcomes = (evidence: Seen, a: number, b: number): boolean => {
  const one = turnAt(evidence, a)
  const other = turnAt(evidence, b)
  return one !== undefined && other !== undefined && sameCalls(one, other) && sameResults(one, other) === true
}

const resultsEqual = (turns: readonly Turn[], period: number, length: number): boolean | null => {
  let equal: boolean | null = true
  for (let index = turns.length - length + period; index < turns.length; index++) {
    const one = turns[index]
    const other = turns[index - period]
    const same = one === undefined || other === undefined ? null : sameResults(one, other)
    if (same === false) return false
    if (same === null) equal = null
  }
  return equal
}

const inRequests = (evidence: Seen): Finding | undefined => {
  const { rule, past } = evidence
  const period = periodOf(evidence, sameRequests, Math.min(rule.window_size, past.length + 1), rule.threshold)
  if (period === undefined) return undefined
  const ids = steps(period * rule.threshold).map((back) => rowAt(evidence, back)?.id ?? '')
  return {
    message: `a sequence of ${period} requests was repeated ${rule.threshold} times`,
    evidence: 'session',
    count: rule.threshold,
    where: requestPlaces(ids),
    // Identical requests carry identical results.
    results_equal: true,
  }
}

const rowAt = ({ row, past }: Seen, back: number): Row | undefined => (back === 0 ? row : past[back - 1])

const sameRequests = (evidence: Seen, a: number, b: number): boolean =>
  rowAt(evidence, a)?.fingerprint === rowAt(evidence, b)?.fingerprint

const steps = (length: number): number[] => Array.from({ length }, (_, back) => back)
