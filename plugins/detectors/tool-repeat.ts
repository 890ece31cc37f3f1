import { detector, type Finding, type Row, type Turn } from 'guard-gateway/core'
import { cachedToolMatcher, turnsOfReply } from 'guard-gateway/lib/detection'
import { callOf } from 'guard-gateway/lib/tools'
import { inHistory } from './tool-repeat/in-history.ts'
import { inSession } from './tool-repeat/in-session.ts'
import { params, type Ruled } from './tool-repeat/params.ts'

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
