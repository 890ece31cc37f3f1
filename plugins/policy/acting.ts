import type { Call, Decision, Match, Session } from 'guard-gateway/core'
import { wayOut } from 'guard-gateway/lib/errors'
import { cutText } from 'guard-gateway/lib/text'
import type { Place } from 'guard-gateway/lib/threads'
import { goesOn } from './goes-on.ts'
import type { History } from './history.ts'
import { isLetOn, pausing } from './pause.ts'
import type { Policy } from './policy.ts'

const MESSAGE_CHARS = 300

/** What is done about a request beside flagging it; at most one of the two. */
export interface Acting {
  /** It is refused, as these members of the decision say. */
  readonly refusal?: Partial<Decision>
  /** It is steered by this match. */
  readonly steering?: Match
}

/** What the matches of a request ask for: in shadow mode nothing, in enforce mode what their actions say. */
export const actingOn = (
  matches: readonly Match[],
  { mode }: Call,
  { row: { id, resumed_at } }: Session,
  place: Place,
  history: History,
  policy: Policy,
): Acting => {
  if (mode !== 'enforce') return {}
  const asking = matches.filter((match) => acts(match) && !isLetOn(match, history, resumed_at))
  const refusing = asking.find((match) => match.action !== 'steer' || goesOn(match, place, history))
  if (refusing?.action === 'pause') return { refusal: pausing(refusing, id) }
  if (refusing !== undefined) return { refusal: blocking(refusing, policy) }
  const [steering] = asking
  return steering === undefined ? {} : { steering }
}

const actions: ReadonlySet<string> = new Set(['block', 'pause', 'steer'])

const acts = ({ action, probe }: Match): boolean => actions.has(action) && probe !== true

const blocking = ({ code, rule_id, message, resets_at }: Match, { active }: Policy): Partial<Decision> => {
  const detector = active.find(({ rule }) => rule.id === rule_id)?.detector
  const way = wayOut({ code, kind: detector?.kind ?? 'loop' }, resets_at !== undefined)
  const told = cutText(`Guard blocked this request: ${message}. ${way}`, MESSAGE_CHARS)
  return { decision: 'block', status: 429, reason: code, rule_id, message: told }
}
