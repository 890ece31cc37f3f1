import type { Call, Row } from 'guard-gateway/core'

/** Which earlier requests a rule passes over by how they ended. */
export interface IgnoredRequests {
  readonly ignore_in_flight?: boolean
  readonly ignore_failed?: boolean
  readonly ignore_aborted?: boolean
}

/** The rule passes over this earlier request. */
export const isIgnoredRequest = ({ outcome }: Row, given: IgnoredRequests): boolean => {
  if (outcome === null) return given.ignore_in_flight === true
  if (outcome === 'upstream_error' || outcome === 'unreachable' || outcome === 'truncated')
    return given.ignore_failed === true
  return (outcome === 'client_aborted' || outcome === 'interrupted') && given.ignore_aborted === true
}

/** A user message is new in it; what a conversation starts with is not. */
export const hasNewUserMessage = (row: Row): boolean =>
  !row.root && (row.user_first === true || row.new_turns.some((turn) => turn.user_after))

/**
 * The request starts a conversation in a session that nothing but this beginning tells: another run of the same task starts with the
 * same request, and so do subagents that are started at once. One whose history holds tool calls has started before.
 */
export const isFreshStart = (row: Row, { session, envelope }: Call): boolean =>
  row.root &&
  session?.row.external_source === 'derived' &&
  envelope.previous_response_id === null &&
  row.new_turns.every(({ calls }) => calls.length === 0)

/** Both are of the same subagent, or of none; a subagent's threads end in `~` and a hash of its id. */
export const isSameSubagent = (one: Row, other: Row): boolean => subagentOf(one.thread) === subagentOf(other.thread)

const subagentOf = (thread: string): string => {
  const mark = thread.lastIndexOf('~')
  return mark === -1 ? '' : thread.slice(mark)
}

/**
 * Of `equal` earlier requests, newest first, as many as one conversation sent itself. Conversations that started alike continue alike: each
 * time the request before was sent, one of the equal ones may follow it. `past` is newest first.
 */
export const repeatsOfOne = (
  row: Row,
  call: Call,
  past: readonly Row[],
  equal: readonly Row[],
  given: IgnoredRequests,
): readonly Row[] => {
  if (isFreshStart(row, call)) return []
  const own = equal.filter((earlier) => isSameSubagent(earlier, row))
  const known = new Map(past.map((earlier) => [earlier.id, earlier]))
  const before = originOf(row, known)
  if (before === undefined) return own
  const rows = past.filter((earlier) => isSameSubagent(earlier, row)).reverse()
  const follows = (earlier: Row): boolean => originOf(earlier, known) === before
  return own.slice(0, unexplained(rows, before, follows, new Set(own), given))
}

/** How many of a request's repeats, itself included, are more than the times that the one before was sent; rows are oldest first. */
const unexplained = (
  rows: readonly Row[],
  before: string,
  follows: (row: Row) => boolean,
  counts: ReadonlySet<Row>,
  given: IgnoredRequests,
): number => {
  const allowed = new Allowance()
  let repeats = 0
  for (const row of rows) {
    if (row.fingerprint === before) allowed.add(isUnanswered(row, given))
    else if (!isUnanswered(row, given) && follows(row) && !allowed.take() && counts.has(row)) repeats++
  }
  return allowed.take() ? repeats : repeats + 1
}

/** How many requests may follow those that were sent before them. */
class Allowance {
  #answered = 0
  #tried = false

  /** What got no answer is sent again: all its attempts lead to one request. */
  add(isTried: boolean): void {
    if (!isTried) this.#answered++
    this.#tried = isTried
  }
  take(): boolean {
    const isOpen = this.#answered > 0 || this.#tried
    if (this.#answered > 0) this.#answered--
    else this.#tried = false
    return isOpen
  }
}

const isUnanswered = (row: Row, given: IgnoredRequests): boolean => row.outcome !== null && isIgnoredRequest(row, given)

/** Fingerprint of what a request continues from; its own repeats are passed over. */
const originOf = (row: Row, known: ReadonlyMap<string, Row>): string | undefined => {
  let at: Row | undefined = row
  while (at !== undefined && at.fingerprint === row.fingerprint) at = known.get(at.parent ?? '')
  return at?.fingerprint
}
