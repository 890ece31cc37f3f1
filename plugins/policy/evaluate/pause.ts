import type { Decision, Gateway, Match, Session } from 'guard-gateway/core'
import { cutText } from '#lib/text'
import type { History } from '../history/history.ts'

const MESSAGE_CHARS = 300
const REASON_CHARS = 200

/** A match whose rule pauses, as a block with 409. The message says how a person resumes the session. */
export const pauseRefusal = ({ code, rule_id, message }: Match, session_id: string): Partial<Decision> => {
  const way = `A person lets it go on with POST /api/sessions/${session_id}/resume or on the gateway's page.`
  const room = MESSAGE_CHARS - way.length - ABOUT.length - 2
  return {
    decision: 'block',
    status: 409,
    reason: code,
    rule_id,
    message: `${ABOUT}${cutText(message, room)}. ${way}`,
    pause_reason: cutText(`${rule_id}: ${message}`, REASON_CHARS),
  }
}

const ABOUT = 'Guard paused this session: '

/**
 * True for a budget that has paused its session, which a person has resumed: it matches again after as much more usage as its threshold.
 * Loops need no such rule, since a resume resets them.
 */
export const isResumedBudget = (
  { rule_id, evidence, count = 0, threshold, resets_at }: Match,
  { rows }: Pick<History, 'rows'>,
  resumed_at: number | null,
): boolean => {
  if (evidence !== 'budget' || resumed_at === null) return false
  return rows.some(
    (row) =>
      row.decision === 'block' &&
      row.rule_id === rule_id &&
      row.at <= resumed_at &&
      row.matches.some(
        (match) =>
          match.rule_id === rule_id &&
          match.action === 'pause' &&
          // a calendar budget resets with each period
          match.resets_at === resets_at &&
          count < (match.count ?? 0) + threshold,
      ),
  )
}

/**
 * Pauses the session of a block that says so: from the same moment on nothing of it is forwarded, and when this resolves it is on record.
 * A pause that cannot be written is reported and undone; the request is refused all the same, and the next match tries again.
 */
export const pauseSessionBy = async (gateway: Gateway, decision: Decision, session: Session): Promise<Decision> => {
  const { pause_reason = '', reason: code, rule_id } = decision
  // two requests at once may both have found it running
  if (session.row.paused) return decision
  await gateway
    .service('sessions')
    .get()
    ?.pause(session, pause_reason, { rule_id, code })
    .catch((error: unknown) => gateway.fault(error, 'policy:pause'))
  return decision
}
