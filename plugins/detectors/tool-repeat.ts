import { detector, type Finding, type Row, type ToolCall, type Turn } from 'guard-gateway/core'
import {
  cachedToolMatcher,
  displayToolName,
  optionalFlag,
  optionalInteger,
  requestPlaces,
  rowsInWindow,
  toolNames,
  turnPlaces,
  turnsOfReply,
  turnsSinceUser,
} from 'guard-gateway/lib/detection'
import { Type } from 'guard-gateway/lib/json'
import type { Static } from 'typebox'
import { callOf, hasKey, isNewChange, isNewElsewhere } from '#lib/tools'

/** Polls, and failures that changes do not cure, are looked for this far back. */
const FAR = 24
const POLL_THRESHOLD = 10
const FAILED_THRESHOLD = 5
const UNCHANGED_THRESHOLD = 10

const params = Type.Object(
  {
    result_aware: optionalFlag(
      'Count only calls whose results are equal and not empty; a change in between starts over',
    ),
    reset_on_user_message: optionalFlag('Calls before the last user message do not count'),
    exempt_tools: toolNames('Tools whose calls do not count; `*` stands for any characters'),
    poll_tools: toolNames(
      'Tools that ask how something is getting on: only equal results count, and `poll_threshold` of them. With `result_aware` the known ones are meant where none are named',
    ),
    poll_threshold: optionalInteger(2, FAR, `Equal polls in the last ${FAR} turns; ${POLL_THRESHOLD} unless set`),
    failed_threshold: optionalInteger(
      2,
      FAR,
      `With \`result_aware\`: equal failures in the last ${FAR} turns that count whatever was changed in between; ${FAILED_THRESHOLD} unless set`,
    ),
    unchanged_threshold: optionalInteger(
      2,
      FAR,
      `The same where nothing tells whether the calls failed; ${UNCHANGED_THRESHOLD} unless set`,
    ),
    repeated_edits: optionalFlag('With `result_aware`: the same edit in consecutive turns counts whatever its results'),
    mutating_tools: toolNames(
      'With `result_aware`: further tools that edit; their calls in consecutive turns count whatever their results',
    ),
  },
  {
    additionalProperties: false,
    dependentRequired: {
      mutating_tools: ['result_aware'],
      repeated_edits: ['result_aware'],
      failed_threshold: ['result_aware'],
      unchanged_threshold: ['result_aware'],
    },
  },
)

/** What a rule of this detector says. */
interface Ruled {
  readonly threshold: number
  readonly window_size: number
  readonly params?: Static<typeof params>
}

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

/** What is counted, and from how many on. */
interface Limits {
  readonly threshold: number
  readonly window_size: number
  /** Only equal results count. */
  readonly aware: boolean
  /** Only calls of consecutive turns count. */
  readonly consecutive: boolean
  /** From how many equal results on changes in between do not matter. */
  readonly stubborn: number
  /** Whether a turn begins the count anew. */
  readonly changed?: (turns: readonly Turn[], index: number) => boolean
}

/** Looks for a call of the last turn in the turns of the request in hand. */
const inHistory = (rule: Ruled, turns: readonly Turn[], call: ToolCall): Finding | undefined => {
  const limits = limitsOf(rule, call)
  const reach = limits.aware ? FAR : limits.window_size
  const window =
    rule.params?.reset_on_user_message === true ? turnsSinceUser(turns, reach) : Math.min(reach, turns.length)
  const steps = equalSteps(turns, call, limits, window)
  const counted = limits.changed === undefined ? steps : sinceChange(turns, steps, limits)
  if (counted.length >= limits.threshold) return found(turns, call, limits, counted)
  if (steps.length < limits.stubborn) return undefined
  return found(turns, call, { ...limits, window_size: FAR }, steps)
}

/** Steps back to the turns that hold the call again, the last turn's own included, newest first. */
const equalSteps = (
  turns: readonly Turn[],
  call: ToolCall,
  { aware, consecutive }: Limits,
  window: number,
): number[] => {
  const steps: number[] = []
  for (let back = 0; back < window; back++) {
    if (isSame(callAt(turns, back, call.key), call, aware)) steps.push(back)
    else if (consecutive) break
  }
  return steps
}

/** Those within the window, and behind the last change. */
const sinceChange = (turns: readonly Turn[], steps: readonly number[], limits: Limits): readonly number[] => {
  const near = steps.filter((back) => back < limits.window_size)
  if (near.length < limits.threshold) return near
  const oldest = near[limits.threshold - 1] ?? 0
  for (let back = 1; back < oldest; back++)
    if (limits.changed?.(turns, turns.length - 1 - back) === true) return near.filter((step) => step < back)
  return near
}

const found = (turns: readonly Turn[], call: ToolCall, limits: Limits, steps: readonly number[]): Finding => {
  const { aware, consecutive, threshold, window_size } = limits
  const span = consecutive ? steps.length : Math.min(window_size, turns.length)
  const calls = Array.from({ length: span }, (_, back) => callAt(turns, back, call.key)).filter(
    (one) => one !== undefined,
  )
  return {
    message: `${displayToolName(call.tool)} was called ${steps.length} times with the same arguments${aware ? ' and results' : ''} in the last ${window_size} turns`,
    evidence: 'history',
    count: steps.length,
    tool: call.tool,
    key: call.key,
    where: turnPlaces(steps),
    results_equal: verdict(
      threshold,
      call.result,
      calls.map((other) => other.result),
    ),
  }
}

/**
 * A poll may be repeated for longer; the same edit made again is a repetition even where its result grows. Where results count, a new
 * change in between makes a repeated call a check, unless it goes on failing, or on saying the same. An act is none while something else
 * shows that it does something.
 */
const limitsOf = ({ threshold, window_size, params: settings }: Ruled, call: ToolCall): Limits => {
  const { tool, effect } = call
  const aware = settings?.result_aware === true
  const polls =
    settings?.poll_tools === undefined ? aware && effect === 'wait' : cachedToolMatcher(settings.poll_tools)(tool)
  const never = Number.POSITIVE_INFINITY
  if (polls) {
    const most = settings?.poll_threshold ?? POLL_THRESHOLD
    return { threshold: most, window_size: FAR, aware: true, consecutive: false, stubborn: never }
  }
  const mutating = cachedToolMatcher(settings?.mutating_tools)
  if (aware && ((settings?.repeated_edits === true && effect === 'edit') || mutating(tool)))
    return { threshold, window_size, aware: false, consecutive: true, stubborn: never }
  if (!aware) return { threshold, window_size, aware, consecutive: false, stubborn: never }
  // what an act did shows elsewhere: a picture of the page, the state of what is debugged
  const isSeen = (turns: readonly Turn[], index: number) => effect === 'act' && isNewElsewhere(turns, index, call.key)
  const changed = (turns: readonly Turn[], index: number) => isNewChange(turns, index, mutating) || isSeen(turns, index)
  return { threshold, window_size, aware, consecutive: false, stubborn: stubbornFrom(settings, call), changed }
}

/** A check that passes after each change is none: its result is equal because the changes are good. */
const stubbornFrom = (settings: Ruled['params'], { error, passed }: ToolCall): number => {
  if (passed) return Number.POSITIVE_INFINITY
  return error
    ? (settings?.failed_threshold ?? FAILED_THRESHOLD)
    : (settings?.unchanged_threshold ?? UNCHANGED_THRESHOLD)
}

const callAt = (turns: readonly Turn[], back: number, key: string): ToolCall | undefined => {
  const turn = turns[turns.length - 1 - back]
  return turn === undefined ? undefined : callOf(turn, key)
}

const isSame = (other: ToolCall | undefined, call: ToolCall, aware: boolean): boolean =>
  other !== undefined && (!aware || (call.result !== null && other.result === call.result))

/** Whether equal results alone would match; null if empty or unknown ones leave that open. */
const verdict = (threshold: number, result: string | null, results: readonly (string | null)[]): boolean | null => {
  if (result === null) return null
  const equal = results.filter((other) => other === result).length
  if (equal >= threshold) return true
  return equal + results.filter((other) => other === null).length >= threshold ? null : false
}
