import type { ListedSession } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'

const MAX_SESSIONS = 5

export const isPaused = ({ paused, ended_at = null }: ListedSession): boolean => paused && ended_at === null

/** Two lines for each paused session: the reason and the commands to use. */
export const pausedSessionLines = (sessions: readonly ListedSession[], calledAs: string): readonly string[] => {
  const pausedSessions = sessions.filter(isPaused)
  const more = pausedSessions.length - MAX_SESSIONS
  return [
    ...pausedSessions
      .slice(0, MAX_SESSIONS)
      .flatMap(({ id, pause_reason }) => [
        `${id} waits for a person${pause_reason ? `: ${terminalLine(pause_reason)}` : ''}`,
        `  ${calledAs} sessions resume ${id}, or sessions end ${id}`,
      ]),
    ...(more > 0 ? [`and ${more} more: ${calledAs} sessions list --paused`] : []),
  ]
}
