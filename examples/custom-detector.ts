import { detector } from 'guard-gateway/core'

/** One tool returns the same result again and again, whatever its arguments. */
export const sameAnswer = detector({
  id: 'same_answer',
  code: 'LOOP_SAME_ANSWER',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 4, window_size: 8 },

  detect({ rule, turns }) {
    const last = turns.at(-1)
    const [call] = last?.calls ?? []
    if (last?.user_after || !call?.result) return undefined
    const recent = turns.slice(-rule.window_size).flatMap(({ calls }) => calls)
    const count = recent.filter(({ tool, result }) => tool === call.tool && result === call.result).length
    if (count < rule.threshold) return undefined
    return { message: `${call.tool} gave the same answer ${count} times`, evidence: 'history', count, tool: call.tool }
  },
})
