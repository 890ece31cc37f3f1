import type { Call, Decision, Match, Row, Session } from 'guard-gateway/core'
import { recoveryHint } from '#lib/errors'
import { cutText } from '#lib/text'
import type { ThreadPlacement } from '#lib/threads'
import type { History } from '../history/history.ts'
import { hasFailed } from '../history/settle.ts'
import type { Policy } from '../policy.ts'
import { isResumedBudget, pauseRefusal } from './pause.ts'

const MESSAGE_CHARS = 300

/** The action on a request in addition to flagging it; at most one of the two. */
export interface MatchAction {
  /** The request is refused; members of the decision. */
  readonly refusal?: Partial<Decision>
  /** The match that steers the request. */
  readonly steering?: Match
}

/** The action of a request's matches: none in shadow mode, that of their rules in enforce mode. */
export const actionFor = (
  matches: readonly Match[],
  { mode }: Call,
  { row: { id, resumed_at } }: Session,
  place: ThreadPlacement,
  history: History,
  policy: Policy,
): MatchAction => {
  if (mode !== 'enforce') return {}
  const acting = matches.filter((match) => acts(match) && !isResumedBudget(match, history, resumed_at))
  const refusing = acting.find(
    (match) => match.action !== 'steer' || (!isAdvisory(match, policy) && isRepeatedMatch(match, place, history)),
  )
  if (refusing?.action === 'pause') return { refusal: pauseRefusal(refusing, id) }
  if (refusing !== undefined) return { refusal: blocking(refusing, policy) }
  const [steering] = acting
  return steering === undefined ? {} : { steering }
}

/** A rule that tells the model, and never refuses. */
export const isAdvisory = ({ rule_id }: Match, { active }: Policy): boolean =>
  active.find(({ rule }) => rule.id === rule_id)?.detector.advisory === true

const actions: ReadonlySet<string> = new Set(['block', 'pause', 'steer'])

const acts = ({ action, probe }: Match): boolean => actions.has(action) && probe !== true

const blocking = ({ code, rule_id, message, resets_at }: Match, { active }: Policy): Partial<Decision> => {
  const detector = active.find(({ rule }) => rule.id === rule_id)?.detector
  const way = recoveryHint(detector ?? { kind: 'loop' }, resets_at !== undefined)
  const text = cutText(`Guard blocked this request: ${message}. ${way}`, MESSAGE_CHARS)
  return { decision: 'block', status: 429, reason: code, rule_id, message: text }
}

/**
 * True if the rule has steered this conversation about the same loop before: the nudge did not help. It does not count another loop, one
 * outside the rule's window and, for a rule without a window, one before a request without a match.
 */
const isRepeatedMatch = (match: Match, place: ThreadPlacement, { window }: History): boolean => {
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
