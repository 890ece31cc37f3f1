import type { ListedSession } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'

const MOST_SHOWN = 5

/** Sessions that are paused and not ended: a person lets them go on or ends them. */
export const isPaused = ({ paused, ended_at = null }: ListedSession): boolean => paused && ended_at === null

/** Two lines for each paused session: the reason, and what to do. */
export const pausedSessionLines = (sessions: readonly ListedSession[], calledAs: string): readonly string[] => {
  const waiting = sessions.filter(isPaused)
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
