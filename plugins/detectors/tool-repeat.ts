import {
  callOf,
  detector,
  type Finding,
  type Row,
  reachOf,
  requestPlaces,
  type ToolCall,
  type Turn,
  turnPlaces,
} from 'guard-gateway/core'
import { type Static, Type } from 'typebox'

const params = Type.Object(
  {
    result_aware: Type.Optional(
      Type.Boolean({ description: 'Count only calls whose results are equal and not empty' }),
    ),
  },
  { additionalProperties: false },
)

interface Limits {
  readonly threshold: number
  readonly window_size: number
  readonly params?: Static<typeof params>
}

/** The same tool called with the same arguments, in the turns of the history or in the requests of the session. */
export const toolRepeat = detector({
  id: 'tool_repeat',
  code: 'LOOP_TOOL_CALL',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 8 },
  params,
  reachable: ({ threshold, window_size }) => threshold <= Math.max(1, window_size),

  detect({ rule, row, past, turns }): Finding | undefined {
    const last = turns.at(-1)
    if (last === undefined) return undefined
    for (const call of last.calls) {
      const found = last.user_after ? undefined : inHistory(rule, turns, call)
      if (found !== undefined) return found
    }
    if (rule.params?.result_aware === true) return undefined
    for (const key of row.keys) {
      const found = inSession(rule, row, past, last, key)
      if (found !== undefined) return found
    }
  },
})

/** Turns of the request in hand, the last one included. */
const inHistory = (rule: Limits, turns: readonly Turn[], call: ToolCall): Finding | undefined => {
  const aware = rule.params?.result_aware === true
  const window = Math.min(rule.window_size, turns.length)
  let count = 0
  for (let back = 0; back < window; back++) if (isSame(callAt(turns, back, call.key), call, aware)) count++
  if (count < rule.threshold) return undefined
  const steps = Array.from({ length: window }, (_, back) => back)
  const results = steps.map((back) => callAt(turns, back, call.key)).filter((other) => other !== undefined)
  return {
    message: `${short(call.tool)} was called ${count} times with the same arguments${aware ? ' and results' : ''} in the last ${rule.window_size} turns`,
    evidence: 'history',
    count,
    tool: call.tool,
    key: call.key,
    where: turnPlaces(steps.filter((back) => isSame(callAt(turns, back, call.key), call, aware))),
    results_equal: verdict(
      rule.threshold,
      call.result,
      results.map((other) => other.result),
    ),
  }
}

const callAt = (turns: readonly Turn[], back: number, key: string): ToolCall | undefined => {
  const turn = turns[turns.length - 1 - back]
  return turn === undefined ? undefined : callOf(turn, key)
}

const isSame = (other: ToolCall | undefined, call: ToolCall, aware: boolean): boolean =>
  other !== undefined && (!aware || (call.result !== null && other.result === call.result))

/** Requests of the session: of the same thread, or of those that began one if this one did. */
const inSession = (rule: Limits, row: Row, past: readonly Row[], last: Turn, key: string): Finding | undefined => {
  const reach = reachOf(past, rule.window_size)
  let count = 1
  for (let index = 0; index < reach; index++) if (isLike(past[index], row, key)) count++
  if (count < rule.threshold) return undefined
  const like = past.slice(0, reach).filter((earlier) => isLike(earlier, row, key))
  const call = callOf(last, key)
  const results = [call?.result ?? null, ...like.map((earlier) => resultIn(earlier.new_turns, key))]
  const tool = call?.tool ?? ''
  return {
    message: `${short(tool)} was called ${count} times with the same arguments in the last ${rule.window_size} requests`,
    evidence: 'session',
    count,
    tool,
    key,
    where: requestPlaces([row.id, ...like.map((earlier) => earlier.id)]),
    results_equal: verdict(rule.threshold, call?.result ?? null, results),
  }
}

const isLike = (earlier: Row | undefined, row: Row, key: string): boolean =>
  earlier !== undefined && (row.root ? earlier.root : earlier.thread === row.thread) && earlier.keys.includes(key)

const resultIn = (turns: readonly Turn[], key: string): string | null => {
  const turn = turns.findLast((candidate) => callOf(candidate, key) !== undefined)
  return turn === undefined ? null : (callOf(turn, key)?.result ?? null)
}

/** Whether equal results alone would match; null if empty or unknown ones leave that open. */
const verdict = (threshold: number, result: string | null, results: readonly (string | null)[]): boolean | null => {
  if (result === null) return null
  const equal = results.filter((other) => other === result).length
  if (equal >= threshold) return true
  return equal + results.filter((other) => other === null).length >= threshold ? null : false
}

const short = (tool: string): string => (tool.length <= 64 ? tool : `${tool.slice(0, 63)}…`)
