import type { Match, Row } from 'guard-gateway/core'
import type { Place } from 'guard-gateway/lib/threads'
import type { History } from './history.ts'
import { hasFailed } from './settle.ts'

/**
 * The rule has spoken to this conversation of the same loop before, and the loop goes on: a nudge did not help.
 * Forgotten are another loop, one outside the rule's window and, for a rule without a window, a row of matches that was broken.
 */
export const goesOn = (match: Match, place: Place, { window }: History): boolean => {
  const { rule_id, window_size } = match
  const beside = window.filter((row) => row !== place.original && isBeside(row, place))
  for (const row of window_size === 0 ? beside : beside.slice(0, window_size)) {
    const earlier = row.matches.find((one) => one.rule_id === rule_id)
    if (earlier !== undefined && isSpokenTo(row, earlier) && isSameLoop(match, earlier, row)) return true
    if (earlier === undefined && window_size === 0) return false
  }
  return false
}

/** Where no reply came, nobody has read the nudge. */
const isSpokenTo = (row: Row, { steered }: Match): boolean => steered !== undefined && !hasFailed(row)

/** Of the same conversation; requests that hold no conversation, or the end of one, are looked at together. */
const isBeside = (row: Row, { thread, root }: Place): boolean => row.thread === thread || (root && row.root)

const isSameLoop = (match: Match, earlier: Match, { id }: Row): boolean => {
  // such a rule speaks of what happens without a break
  if (match.window_size === 0) return true
  if (match.key !== undefined || earlier.key !== undefined) return match.key === earlier.key
  return match.evidence !== 'session' || match.where?.some((at) => 'request' in at && at.request === id) === true
}
