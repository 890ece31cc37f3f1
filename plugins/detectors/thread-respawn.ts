import { detector, elapsed, endedMoment, type Finding, type Moment, type Row, type Turn } from 'guard-gateway/core'
import { optionalInteger, requestPlaces, ruleParams } from 'guard-gateway/lib/detection'

/** Turns of a conversation by which it is known. */
const FIRST_TURNS = 3

/** A conversation that began within a session, as far as its requests are remembered. */
interface Beginning {
  readonly id: string
  readonly at: number
  readonly tick: number | undefined
  /** Of the subagent whose conversation it is; empty of the main agent's. */
  readonly subagent: string
  /** When its last request ended; null while one is under way. */
  ended: Moment | null
  readonly turns: Turn[]
}

/** The conversations of a session, oldest first; the last one is that of the request in hand. Rows are newest first. */
const beginningsIn = (past: readonly Row[], row: Row): readonly Beginning[] => {
  const begun: Beginning[] = []
  const open = new Map<string, Beginning>()
  for (let index = past.length - 1; index >= 0; index--) {
    const earlier = past[index]
    if (earlier !== undefined) note(earlier, begun, open)
  }
  note(row, begun, open)
  const own = open.get(row.thread)
  return own === undefined ? [] : [...begun.filter((one) => one !== own), own]
}

const note = (row: Row, begun: Beginning[], open: Map<string, Beginning>): void => {
  const { id, at, tick, thread, root, new_turns } = row
  const ended = row.ended_at === null ? null : endedMoment(row, row.ended_at)
  const known = root ? undefined : open.get(thread)
  if (known !== undefined) {
    known.ended = later(known.ended, ended)
    known.turns.push(...new_turns)
    return
  }
  // rows before the first that is remembered are not known
  if (!root) return
  const beginning = {
    id,
    at,
    tick,
    subagent: thread.slice(thread.indexOf('~') + 1 || thread.length),
    ended,
    turns: [...new_turns],
  }
  begun.push(beginning)
  open.set(thread, beginning)
}

const later = (one: Moment | null, other: Moment | null): Moment | null =>
  one === null || other === null ? null : elapsed(one, other) > 0 ? other : one

/**
 * Whether one conversation made the calls of the other, turn by turn, as far as the other has come. Subagents may well be sent to do the
 * same: those of different ids are alike only where they fail.
 */
const beginsLike = (earlier: Beginning, { turns, subagent }: Beginning): boolean =>
  turns.length <= earlier.turns.length &&
  (earlier.subagent === subagent || turns.some(({ calls }) => calls.some(({ error }) => error))) &&
  turns.every((turn, index) => sameKeys(turn, earlier.turns[index]))

const sameKeys = (one: Turn, other: Turn | undefined): boolean =>
  other !== undefined &&
  one.calls.length > 0 &&
  one.calls.length === other.calls.length &&
  one.calls.every(({ key }, index) => key === other.calls[index]?.key)

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
