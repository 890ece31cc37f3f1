import {
  callOf,
  detector,
  type Finding,
  namesTool,
  type Row,
  reachOf,
  requestPlaces,
  type ToolCall,
  type Turn,
  toldTool,
  turnPlaces,
  turnsSinceUser,
} from 'guard-gateway/core'
import { type Static, Type } from 'typebox'

/** Polls are looked for this far back. */
const POLL_WINDOW = 24
const POLL_THRESHOLD = 10

const globs = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 64, description }))

const params = Type.Object(
  {
    result_aware: Type.Optional(
      Type.Boolean({ description: 'Count only calls whose results are equal and not empty' }),
    ),
    reset_on_user_message: Type.Optional(
      Type.Boolean({ description: 'Calls before the last user message do not count' }),
    ),
    exempt_tools: globs('Tools whose calls do not count; `*` stands for any characters'),
    poll_tools: globs(
      'Tools that ask how something is getting on: only equal results count, and `poll_threshold` of them',
    ),
    poll_threshold: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: POLL_WINDOW,
        description: `Equal polls in the last ${POLL_WINDOW} turns; 10 unless set`,
      }),
    ),
    mutating_tools: globs(
      'With `result_aware`: calls of these tools in consecutive turns count whatever their results',
    ),
  },
  {
    additionalProperties: false,
    dependentRequired: { poll_threshold: ['poll_tools'], mutating_tools: ['result_aware'] },
  },
)

/** What is counted, and from how many on. */
interface Limits {
  readonly threshold: number
  readonly window_size: number
  /** Only equal results count. */
  readonly aware: boolean
  /** Only calls of consecutive turns count. */
  readonly consecutive: boolean
}

interface Ruled {
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
  unit: 'equal calls',
  params,
  reachable: ({ threshold, window_size }) => threshold <= Math.max(1, window_size),

  detect({ rule, row, past, turns }): Finding | undefined {
    const last = turns.at(-1)
    if (last === undefined) return undefined
    const found = last.user_after ? undefined : amongTurns(rule, turns, last)
    return found ?? (rule.params?.result_aware === true ? undefined : amongRequests(rule, row, past, last))
  },
})

const amongTurns = (rule: Ruled, turns: readonly Turn[], last: Turn): Finding | undefined => {
  const exempt = namesTool(rule.params?.exempt_tools)
  for (const call of last.calls) {
    const found = exempt(call.tool) ? undefined : inHistory(rule, turns, call)
    if (found !== undefined) return found
  }
}

const amongRequests = (rule: Ruled, row: Row, past: readonly Row[], last: Turn): Finding | undefined => {
  const exempt = namesTool(rule.params?.exempt_tools)
  const polled = namesTool(rule.params?.poll_tools)
  for (const key of row.keys) {
    const tool = callOf(last, key)?.tool ?? ''
    const found = exempt(tool) || polled(tool) ? undefined : inSession(rule, row, past, last, key)
    if (found !== undefined) return found
  }
}

/** Turns of the request in hand, the last one included. */
const inHistory = (rule: Ruled, turns: readonly Turn[], call: ToolCall): Finding | undefined => {
  const limits = limitsOf(rule, call.tool)
  const { aware, consecutive } = limits
  const reset = rule.params?.reset_on_user_message === true
  const window = reset ? turnsSinceUser(turns, limits.window_size) : Math.min(limits.window_size, turns.length)
  let count = 0
  for (let back = 0; back < window; back++) {
    if (isSame(callAt(turns, back, call.key), call, aware)) count++
    else if (consecutive) break
  }
  if (count < limits.threshold) return undefined
  const steps = Array.from({ length: consecutive ? count : window }, (_, back) => back)
  const results = steps.map((back) => callAt(turns, back, call.key)).filter((other) => other !== undefined)
  return {
    message: `${toldTool(call.tool)} was called ${count} times with the same arguments${aware ? ' and results' : ''} in the last ${limits.window_size} turns`,
    evidence: 'history',
    count,
    tool: call.tool,
    key: call.key,
    where: turnPlaces(steps.filter((back) => isSame(callAt(turns, back, call.key), call, aware))),
    results_equal: verdict(
      limits.threshold,
      call.result,
      results.map((other) => other.result),
    ),
  }
}

/** A poll may be repeated for longer; a change that is made again is a repetition even where its result grows. */
const limitsOf = ({ threshold, window_size, params: given }: Ruled, tool: string): Limits => {
  const aware = given?.result_aware === true
  if (namesTool(given?.poll_tools)(tool)) {
    const polls = given?.poll_threshold ?? POLL_THRESHOLD
    return { threshold: polls, window_size: POLL_WINDOW, aware: true, consecutive: false }
  }
  const consecutive = aware && namesTool(given?.mutating_tools)(tool)
  return { threshold, window_size, aware: aware && !consecutive, consecutive }
}

const callAt = (turns: readonly Turn[], back: number, key: string): ToolCall | undefined => {
  const turn = turns[turns.length - 1 - back]
  return turn === undefined ? undefined : callOf(turn, key)
}

const isSame = (other: ToolCall | undefined, call: ToolCall, aware: boolean): boolean =>
  other !== undefined && (!aware || (call.result !== null && other.result === call.result))

/** Requests of the session: of the same thread, or of those that began one if this one did. */
const inSession = (rule: Ruled, row: Row, past: readonly Row[], last: Turn, key: string): Finding | undefined => {
  const limit = reachOf(past, rule.window_size)
  const reach = rule.params?.reset_on_user_message === true ? rowsSinceUser(row, past, limit) : limit
  let count = 1
  for (let index = 0; index < reach; index++) if (isLike(past[index], row, key)) count++
  if (count < rule.threshold) return undefined
  const like = past.slice(0, reach).filter((earlier) => isLike(earlier, row, key))
  const call = callOf(last, key)
  const results = [call?.result ?? null, ...like.map((earlier) => resultIn(earlier.new_turns, key))]
  const tool = call?.tool ?? ''
  return {
    message: `${toldTool(tool)} was called ${count} times with the same arguments in the last ${rule.window_size} requests`,
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

/** Whether equal results alone would match; null if empty or unknown ones leave that open. */
const verdict = (threshold: number, result: string | null, results: readonly (string | null)[]): boolean | null => {
  if (result === null) return null
  const equal = results.filter((other) => other === result).length
  if (equal >= threshold) return true
  return equal + results.filter((other) => other === null).length >= threshold ? null : false
}
