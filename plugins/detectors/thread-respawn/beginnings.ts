import { elapsed, endedMoment, type Moment, type Row, type Turn } from 'guard-gateway/core'

/** Turns of a conversation by which it is known. */
export const FIRST_TURNS = 3

/** A conversation that began within a session, as far as its requests are remembered. */
export interface Beginning {
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
export const beginningsIn = (past: readonly Row[], row: Row): readonly Beginning[] => {
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
export const beginsLike = (earlier: Beginning, { turns, subagent }: Beginning): boolean =>
  turns.length <= earlier.turns.length &&
  (earlier.subagent === subagent || turns.some(({ calls }) => calls.some(({ error }) => error))) &&
  turns.every((turn, index) => sameKeys(turn, earlier.turns[index]))

const sameKeys = (one: Turn, other: Turn | undefined): boolean =>
  other !== undefined &&
  one.calls.length > 0 &&
  one.calls.length === other.calls.length &&
  one.calls.every(({ key }, index) => key === other.calls[index]?.key)
