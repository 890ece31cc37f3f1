import type { ListedSession } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'

const MOST_SHOWN = 5

/** Sessions that are paused and not ended: a person lets them go on or ends them. */
export const isWaiting = ({ paused, ended_at = null }: ListedSession): boolean => paused && ended_at === null

/** Two lines for each session that waits for a person: why, and what to do; none for none. */
export const waitingLines = (sessions: readonly ListedSession[], calledAs: string): readonly string[] => {
  const waiting = sessions.filter(isWaiting)
  const more = waiting.length - MOST_SHOWN
  return [
    ...waiting
      .slice(0, MOST_SHOWN)
      .flatMap(({ id, pause_reason }) => [
        `${id} waits for a person${pause_reason ? `: ${terminalLine(pause_reason)}` : ''}`,
        `  ${calledAs} sessions resume ${id}, or sessions end ${id}`,
      ]),
    ...(more > 0 ? [`and ${more} more: ${calledAs} sessions list --paused`] : []),
  ]
}
