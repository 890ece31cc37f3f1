import type { Finding, ToolCall, Turn } from 'guard-gateway/core'
import { cachedToolMatcher, displayToolName, turnPlaces, turnsSinceUser } from 'guard-gateway/lib/detection'
import { callOf, isNewChange, isNewElsewhere } from '#lib/tools'
import { FAILED_THRESHOLD, FAR, POLL_THRESHOLD, type Ruled, UNCHANGED_THRESHOLD } from './params.ts'
import { verdict } from './results.ts'

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
export const inHistory = (rule: Ruled, turns: readonly Turn[], call: ToolCall): Finding | undefined => {
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
