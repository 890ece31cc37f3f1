import { detector, type Finding, type Row, type Turn } from 'guard-gateway/core'
import {
  cachedToolMatcher,
  displayToolName,
  requestPlaces,
  rowsInWindow,
  turnsOfReply,
} from 'guard-gateway/lib/detection'
import { callOf, hasKey } from '#lib/tools'
import { inHistory } from './tool-repeat/in-history.ts'
import { params, type Ruled } from './tool-repeat/params.ts'
import { verdict } from './tool-repeat/results.ts'

/** Requests of the session: of the same thread, or of those that began one if this one did. */
const inSession = (rule: Ruled, row: Row, past: readonly Row[], last: Turn, key: string): Finding | undefined => {
  const limit = rowsInWindow(past, rule.window_size)
  const reach = rule.params?.reset_on_user_message === true ? rowsSinceUser(row, past, limit) : limit
  let count = 1
  for (let index = 0; index < reach; index++) if (isLike(past[index], row, key)) count++
  if (count < rule.threshold) return undefined
  const like = past.slice(0, reach).filter((earlier) => isLike(earlier, row, key))
  const call = callOf(last, key)
  const results = [call?.result ?? null, ...like.map((earlier) => resultIn(earlier.new_turns, key))]
  const tool = call?.tool ?? ''
  return {
    message: `${displayToolName(tool)} was called ${count} times with the same arguments in the last ${rule.window_size} requests`,
    evidence: 'session',
    count,
    tool,
    key,
    where: requestPlaces([row.id, ...like.map((earlier) => earlier.id)]),
    results_equal: verdict(rule.threshold, call?.result ?? null, results),
  }
}

const isLike = (earlier: Row | undefined, row: Row, key: string): boolean =>
  earlier !== undefined && (row.root ? earlier.root : earlier.thread === row.thread) && hasKey(earlier.keys, key)

/** How many of the newest rows may count where the thread's last user message ends the search; conversations that just began are one each. */
const rowsSinceUser = (row: Row, past: readonly Row[], limit: number): number => {
  if (row.root) return limit
  if (holdsUser(row)) return 0
  for (let index = 0; index < limit; index++) {
    const earlier = past[index]
    if (earlier === undefined || earlier.thread !== row.thread) continue
    if (earlier.new_turns.at(-1)?.user_after ?? earlier.user_first) return index
    if (holdsUser(earlier)) return index + 1
  }
  return limit
}

const holdsUser = ({ new_turns, user_first }: Row): boolean => {
  for (const turn of new_turns) if (turn.user_after) return true
  return user_first === true
}

const resultIn = (turns: readonly Turn[], key: string): string | null => {
  const turn = turns.findLast((candidate) => callOf(candidate, key) !== undefined)
  return turn === undefined ? null : (callOf(turn, key)?.result ?? null)
}

/** The same tool called with the same arguments, in the turns of the history or in the requests of the session. */
export const toolRepeat = detector({
  id: 'tool_repeat',
  code: 'LOOP_TOOL_CALL',
  summary: 'The same tool call was repeated',
  version: '2',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 8 },
  unit: 'equal calls',
  params,
  reachable: ({ threshold, window_size }) => threshold <= Math.max(1, window_size),

  detect({ rule, row, past, turns }): Finding | undefined {
    const last = turns.at(-1)
    if (last === undefined) return undefined
    const found = last.user_after ? undefined : amongTurns(rule, turns)
    return found ?? (rule.params?.result_aware === true ? undefined : amongRequests(rule, row, past, last))
  },
})

/** The turns of the last reply are more than one where tools ran at the provider. */
const amongTurns = (rule: Ruled, turns: readonly Turn[]): Finding | undefined => {
  const count = turnsOfReply(turns)
  for (let back = 0; back < count; back++) {
    const found = atEnd(rule, back === 0 ? turns : turns.slice(0, -back))
    if (found !== undefined) return back === 0 ? found : { ...found, where: movedBack(found.where, back) }
  }
}

const atEnd = (rule: Ruled, turns: readonly Turn[]): Finding | undefined => {
  const exempt = cachedToolMatcher(rule.params?.exempt_tools)
  for (const call of turns.at(-1)?.calls ?? []) {
    const found = exempt(call.tool) ? undefined : inHistory(rule, turns, call)
    if (found !== undefined) return found
  }
}

const movedBack = (where: Finding['where'], back: number): NonNullable<Finding['where']> =>
  (where ?? []).map((place) => ('turn' in place ? { ...place, turn: place.turn - back } : place))

const amongRequests = (rule: Ruled, row: Row, past: readonly Row[], last: Turn): Finding | undefined => {
  const exempt = cachedToolMatcher(rule.params?.exempt_tools)
  const polled = cachedToolMatcher(rule.params?.poll_tools)
  for (const key of row.keys) {
    const tool = callOf(last, key)?.tool ?? ''
    const found = exempt(tool) || polled(tool) ? undefined : inSession(rule, row, past, last, key)
    if (found !== undefined) return found
  }
}
