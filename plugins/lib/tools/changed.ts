import type { ToolCall, Turn } from 'guard-gateway/core'
import { changes } from './effect.ts'
import { callOf } from './sorted-keys.ts'

/** A change that was made within so many turns before is the same change again. */
const REACH = 24

/** Whether a turn changed something that no turn shortly before it changed likewise; `mutating` names further tools that do. */
export const isNewChange = (turns: readonly Turn[], index: number, mutating?: (tool: string) => boolean): boolean => {
  for (const { key, tool, effect, error } of turns[index]?.calls ?? []) {
    if (error || !(changes(effect) || mutating?.(tool) === true)) continue
    if (!isMadeBefore(turns, index, key)) return true
  }
  return false
}

/** Whether another call of a turn brought a result that it did not bring shortly before: something else has changed. */
export const isNewElsewhere = (turns: readonly Turn[], index: number, key: string): boolean =>
  turns[index]?.calls.some((call) => call.key !== key && isNewResult(turns, index, call)) === true

const isNewResult = (turns: readonly Turn[], index: number, { tool, result, error }: ToolCall): boolean => {
  if (result === null || error) return false
  for (let earlier = index - 1; earlier >= 0 && earlier >= index - REACH; earlier--)
    if (turns[earlier]?.calls.some((other) => other.tool === tool && other.result === result)) return false
  return true
}

const isMadeBefore = (turns: readonly Turn[], index: number, key: string): boolean => {
  for (let earlier = index - 1; earlier >= 0 && earlier >= index - REACH; earlier--) {
    const turn = turns[earlier]
    if (turn !== undefined && callOf(turn, key) !== undefined) return true
  }
  return false
}
