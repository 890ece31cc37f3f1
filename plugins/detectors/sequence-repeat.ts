import {
  type Call,
  detector,
  type Evidence,
  type Finding,
  type Row,
  type ToolCall,
  type Turn,
} from 'guard-gateway/core'
import {
  cachedToolMatcher,
  hasNewUserMessage,
  isFreshStart,
  isIgnoredRequest,
  isSameSubagent,
  optionalFlag,
  periodOf,
  requestParams,
  requestPlaces,
  ruleParams,
  sameCalls,
  sameResults,
  toolNames,
  turnPlaces,
} from 'guard-gateway/lib/detection'
import type { Static } from 'typebox'

const params = ruleParams({
  result_aware: optionalFlag('Turns are alike only if their results are, too'),
  exempt_tools: toolNames(
    'Tools whose calls do not count: a turn of nothing else breaks a sequence; `*` stands for any characters',
  ),
  ...requestParams({
    user_message: 'Requests before the last user message do not count; for turns that is always so',
    fresh_starts:
      'Where the client names no session, no sequence of requests goes beyond the beginning of a conversation, and none anywhere holds those of different subagents',
  }),
})

type RuleParams = Static<typeof params>

type CallEvidence = Pick<Evidence<RuleParams>, 'rule' | 'call' | 'row' | 'past' | 'turns'>

/** What is compared: turns without the calls that do not count. */
interface Seen extends CallEvidence {
  readonly aware: boolean
}

/** A cycle of 2 to 5 different turns, or requests, that repeats; with `result_aware` of calls and results, so that ping-pong that learns something passes. */
export const sequenceRepeat = detector({
  id: 'sequence_repeat',
  code: 'LOOP_SEQUENCE',
  summary: 'A sequence of requests was repeated',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 15 },
  unit: 'rounds',
  params,
  reachable: ({ threshold, window_size }) => 2 * threshold <= window_size,

  detect({ rule, call, row, past, turns }: CallEvidence): Finding | undefined {
    const { result_aware, exempt_tools } = rule.params ?? {}
    const seen: Seen = {
      rule,
      call,
      row,
      past,
      turns: countedTurns(turns, rule.window_size, exempt_tools, result_aware === true),
      aware: result_aware === true,
    }
    return inTurns(seen) ?? inRequests({ ...seen, past: counted(seen) })
  },
})

/** The last turns, with the calls that count: where results do, waiting goes round in no circle. */
const countedTurns = (
  turns: readonly Turn[],
  most: number,
  exempt: readonly string[] | undefined,
  aware: boolean,
): readonly Turn[] => {
  const named = cachedToolMatcher(exempt)
  const isLeftOut = ({ tool, effect }: ToolCall): boolean => named(tool) || (aware && effect === 'wait')
  const last = turns.slice(-most)
  if (!last.some(({ calls }) => calls.some(isLeftOut))) return turns
  return last.map((turn) => ({ ...turn, calls: turn.calls.filter((call) => !isLeftOut(call)) }))
}

const inTurns = (seen: Seen): Finding | undefined => {
  const { rule, turns, aware } = seen
  const same = aware ? sameOutcomes : sameTurns
  const period = periodOf(seen, same, unbroken(turns, rule.window_size, aware), rule.threshold)
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

const sameTurns = (seen: Seen, a: number, b: number): boolean => {
  const one = turnAt(seen, a)
  const other = turnAt(seen, b)
  return one !== undefined && other !== undefined && sameCalls(one, other)
}

const sameOutcomes = (seen: Seen, a: number, b: number): boolean => {
  const one = turnAt(seen, a)
  const other = turnAt(seen, b)
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

const inRequests = (seen: Seen): Finding | undefined => {
  const { rule } = seen
  const period = periodOf(seen, sameRequests, requests(seen), rule.threshold)
  if (period === undefined) return undefined
  const ids = steps(period * rule.threshold).map((back) => rowAt(seen, back)?.id ?? '')
  return {
    message: `a sequence of ${period} requests was repeated ${rule.threshold} times`,
    evidence: 'session',
    count: rule.threshold,
    where: requestPlaces(ids),
    // Identical requests carry identical results.
    results_equal: true,
  }
}

/** The earlier requests that count, newest first; all of them unless the rule says otherwise. */
const counted = ({ rule, call, row, past }: Seen): readonly Row[] => {
  const { ignore_in_flight, ignore_failed, ignore_aborted, ignore_fresh_starts } = rule.params ?? {}
  if (!(ignore_in_flight || ignore_failed || ignore_aborted || ignore_fresh_starts)) return past
  if (!past.some(({ fingerprint }) => fingerprint === row.fingerprint)) return []
  // that a conversation began is so, however its first request ended
  const rows = ignore_fresh_starts ? sinceStart(row, call, past) : past
  return rows.filter((earlier) => !isIgnoredRequest(earlier, rule.params ?? {}))
}

/** The rows back to the one that began the conversation, without those of other subagents. */
const sinceStart = (row: Row, call: Call, rows: readonly Row[]): readonly Row[] => {
  if (isFreshStart(row, call)) return []
  const own = rows.filter((earlier) => isSameSubagent(earlier, row))
  const start = own.findIndex((earlier) => isFreshStart(earlier, call))
  return start === -1 ? own : own.slice(0, start + 1)
}

/** How many of the last requests are compared, the one in hand included. */
const requests = (seen: Seen): number => {
  const limit = Math.min(seen.rule.window_size, seen.past.length + 1)
  if (seen.rule.params?.reset_on_user_message !== true) return limit
  for (let back = 0; back < limit; back++) {
    const at = rowAt(seen, back)
    if (at !== undefined && hasNewUserMessage(at)) return back + 1
  }
  return limit
}

const rowAt = ({ row, past }: Seen, back: number): Row | undefined => (back === 0 ? row : past[back - 1])

const sameRequests = (seen: Seen, a: number, b: number): boolean =>
  rowAt(seen, a)?.fingerprint === rowAt(seen, b)?.fingerprint

const steps = (length: number): number[] => Array.from({ length }, (_, back) => back)
