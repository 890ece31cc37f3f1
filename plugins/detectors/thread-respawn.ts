import { detector, elapsed, type Finding } from 'guard-gateway/core'
import { optionalInteger, requestPlaces, ruleParams } from 'guard-gateway/lib/detection'
import { type Beginning, beginningsIn, beginsLike, FIRST_TURNS } from './thread-respawn/beginnings.ts'

const WITHIN_SECONDS = 1800
const PAUSE_SECONDS = 60

/**
 * A session begins one conversation after another, and each does what the one before it did: a history that is compacted again and
 * again, or a subagent that is sent once more after the same failure. Those at work at the same time are no repetition, and who waits
 * before beginning anew has looked.
 */
export const threadRespawn = detector({
  id: 'thread_respawn',
  code: 'LOOP_RESPAWN',
  summary: 'Conversations begin alike again and again',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 4, window_size: 64 },
  unit: 'conversations that begin alike',
  params: ruleParams({
    within_seconds: optionalInteger(60, 86_400, `From the first beginning to the last; ${WITHIN_SECONDS} unless set`),
    pause_seconds: optionalInteger(
      1,
      3600,
      `From the end of one to the beginning of the next at most; ${PAUSE_SECONDS} unless set`,
    ),
  }),
  reachable: ({ threshold, window_size }) => threshold >= 2 && threshold * (FIRST_TURNS + 1) <= window_size,

  detect({ rule, call, row, past, turns }): Finding | undefined {
    // where only its beginning tells a session, other runs of the same task join it
    if (row.root || turns.length < FIRST_TURNS || call.session?.row.external_source === 'derived') return undefined
    const begun = beginningsIn(past.slice(0, rule.window_size), row)
    const own = begun.at(-1)
    if (own === undefined || own.turns.length < FIRST_TURNS) return undefined
    const alike = chainOf(begun.slice(0, -1), own, (rule.params?.pause_seconds ?? PAUSE_SECONDS) * 1000)
    const within = (rule.params?.within_seconds ?? WITHIN_SECONDS) * 1000
    const counted = alike.filter((one) => elapsed(one, own) <= within)
    if (counted.length < rule.threshold) return undefined
    return {
      message: `${counted.length} conversations of the session began with the same calls, one after another`,
      evidence: 'session',
      count: counted.length,
      where: requestPlaces(counted.map(({ id }) => id)),
      results_equal: null,
    }
  },
})

/** Those that began alike, newest first, each ended shortly before the next began. */
const chainOf = (earlier: readonly Beginning[], own: Beginning, pause: number): readonly Beginning[] => {
  const chain = [own]
  let next = own
  for (const one of earlier.toReversed()) {
    if (!beginsLike(one, own)) continue
    const waited = one.ended === null ? -1 : elapsed(one.ended, next)
    if (waited < 0) return chain
    if (waited > pause) break
    chain.push(one)
    next = one
  }
  return chain
}
