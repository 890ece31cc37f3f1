import type { Finding, Row, Turn } from 'guard-gateway/core'
import { requestPlaces, rowsInWindow, shownToolName } from 'guard-gateway/lib/detection'
import { callOf, hasKey } from 'guard-gateway/lib/tools'
import type { Ruled } from './params.ts'
import { verdict } from './results.ts'

/** Requests of the session: of the same thread, or of those that began one if this one did. */
export const inSession = (
  rule: Ruled,
  row: Row,
  past: readonly Row[],
  last: Turn,
  key: string,
): Finding | undefined => {
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
    message: `${shownToolName(tool)} was called ${count} times with the same arguments in the last ${rule.window_size} requests`,
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
