import { detector, type Ended, elapsed, type Finding } from 'guard-gateway/core'
import { requestPlaces } from 'guard-gateway/lib/detection'

/** Who asks later than this has looked: a client that goes on by itself asks at once. */
const PAUSE = 60_000

/** Replies that only reason: each ended without a word and without a call, and the next request comes at once. */
export const reasoningOnly = detector({
  id: 'reasoning_only',
  code: 'LOOP_REASONING',
  summary: 'Replies only reason',
  help: 'Send a new instruction, raise the token limit of replies, or ask for less reasoning.',
  version: '1',
  kind: 'outcome',
  defaults: { threshold: 3, window_size: 0 },
  unit: 'replies without a word',
  reachable: ({ threshold }) => threshold <= 1000,

  detect({ rule, call, session }): Finding | undefined {
    const streak = streakOf(session.outcomes)
    const [newest] = streak
    if (newest === undefined || streak.length < rule.threshold) return undefined
    if (elapsed({ at: newest.ended_at, tick: newest.ended_tick }, call) > PAUSE) return undefined
    return {
      message: `${streak.length} replies in a row only reasoned: they ended without a word and without a call`,
      evidence: 'outcomes',
      count: streak.length,
      where: requestPlaces(streak.map(({ id }) => id)),
    }
  },
})

/** Newest first. What was refused or left by the client says nothing. */
const streakOf = (outcomes: readonly Ended[]): readonly Ended[] => {
  const streak: Ended[] = []
  for (const ended of outcomes.toReversed()) {
    if (ended.wordless === true) streak.push(ended)
    else if (ended.outcome === 'ok') break
  }
  return streak
}
