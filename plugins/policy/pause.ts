import type { Decision, Gateway, Match, Session } from 'guard-gateway/core'
import { cutText } from 'guard-gateway/lib/text'
import type { History } from './history.ts'

const MESSAGE_CHARS = 300
const REASON_CHARS = 200

/** A match whose rule pauses, as a block with 409: the session waits for a person, who is told how to let it go on. */
export const pausing = ({ code, rule_id, message }: Match, session_id: string): Partial<Decision> => {
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
 * A budget that has paused its session, and a person has let that go on: it speaks again when as much more is used as it has room for.
 * Loops need no such memory, since a resume makes them begin anew.
 */
export const isLetOn = (
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
          // a budget of the calendar begins anew with each period
          match.resets_at === resets_at &&
          count < (match.count ?? 0) + threshold,
      ),
  )
}

/**
 * Pauses the session of a block that says so: from the same moment on nothing of it is forwarded, and when this resolves it is on record.
 * One that cannot be written is told and taken back; the request is refused all the same, and the next match tries again.
 */
export const pauseBy = async (gateway: Gateway, decision: Decision, session: Session): Promise<Decision> => {
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
