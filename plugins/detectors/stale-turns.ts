import { detector, type Finding, type ToolCall, type Turn } from 'guard-gateway/core'
import { optionalFlag, ruleParams, turnPlaces } from 'guard-gateway/lib/detection'
import { callOf, isNewChange, isNewElsewhere } from '#lib/tools'

/** A call was made before if it was made within so many turns. */
const REACH = 10

/**
 * Turns that only repeat: each of their calls was made shortly before, and had the same result. Cycles without a fixed period are found
 * so. A change in between starts over, and waiting does not count.
 */
export const staleTurns = detector({
  id: 'stale_turns',
  code: 'LOOP_STALE',
  summary: 'Turns repeat earlier calls and get earlier results',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 6 },
  unit: 'turns that only repeat',
  params: ruleParams({
    reset_on_user_message: optionalFlag('Turns before the last user message do not count; true unless set'),
  }),
  reachable: ({ threshold, window_size }) => threshold <= Math.max(1, window_size),

  detect({ rule, turns }): Finding | undefined {
    const reset = rule.params?.reset_on_user_message !== false
    if (!isStale(turns, turns.length - 1, reset)) return undefined
    const steps: number[] = []
    for (let back = 0; back < Math.min(rule.window_size, turns.length); back++) {
      const index = turns.length - 1 - back
      if (endsSearch(turns, index, back, reset)) break
      if (isStale(turns, index, reset)) steps.push(back)
    }
    if (steps.length < rule.threshold) return undefined
    return {
      message: `${steps.length} of the last ${rule.window_size} turns repeated earlier calls and got earlier results`,
      evidence: 'history',
      count: steps.length,
      where: turnPlaces(steps),
      results_equal: true,
    }
  },
})

/** A user message stands behind the turn, or it changed something that no turn before it did. */
const endsSearch = (turns: readonly Turn[], index: number, back: number, reset: boolean): boolean =>
  (reset && turns[index]?.user_after === true) || (back > 0 && isNewChange(turns, index))

const isStale = (turns: readonly Turn[], index: number, reset: boolean): boolean => {
  const turn = turns[index]
  if (turn === undefined || turn.calls.length === 0 || (reset && turn.user_after)) return false
  for (const { key, result, effect } of turn.calls)
    if (result === null || effect === 'wait' || !isKnown(turns, index, { key, result, effect })) return false
  return true
}

/** An act is not known where something else has changed since it was made before. */
const isKnown = (
  turns: readonly Turn[],
  index: number,
  { key, result, effect }: Pick<ToolCall, 'key' | 'result' | 'effect'>,
): boolean => {
  for (let earlier = index - 1; earlier >= 0 && earlier >= index - REACH; earlier--) {
    const turn = turns[earlier]
    if (turn !== undefined && callOf(turn, key)?.result === result) return true
    if (effect === 'act' && isNewElsewhere(turns, earlier, key)) return false
  }
  return false
}
