import type { Match, Row } from 'guard-gateway/core'
import type { ThreadPlacement } from '#lib/threads'
import type { History } from '../history/history.ts'
import { hasFailed } from '../history/settle.ts'

/**
 * True if the rule has steered this conversation about the same loop before: the nudge did not help. It does not count another loop, one
 * outside the rule's window and, for a rule without a window, one before a request without a match.
 */
export const isRepeatedMatch = (match: Match, place: ThreadPlacement, { window }: History): boolean => {
  const { rule_id, window_size } = match
  const sameThread = window.filter((row) => row !== place.original && inSameThread(row, place))
  for (const row of window_size === 0 ? sameThread : sameThread.slice(0, window_size)) {
    const earlier = row.matches.find((one) => one.rule_id === rule_id)
    if (earlier !== undefined && wasSteered(row, earlier) && isSameLoop(match, earlier, row)) return true
    if (earlier === undefined && window_size === 0) return false
  }
  return false
}

/** Without a reply, no model has read the nudge. */
const wasSteered = (row: Row, { steered }: Match): boolean => steered !== undefined && !hasFailed(row)

/** True for the same conversation; requests without a conversation, or with the end of one, count as one. */
const inSameThread = (row: Row, { thread, root }: ThreadPlacement): boolean =>
  row.thread === thread || (root && row.root)

const isSameLoop = (match: Match, earlier: Match, { id }: Row): boolean => {
  // such a rule is about an unbroken series
  if (match.window_size === 0) return true
  if (match.key !== undefined || earlier.key !== undefined) return match.key === earlier.key
  return match.evidence !== 'session' || match.where?.some((at) => 'request' in at && at.request === id) === true
}
