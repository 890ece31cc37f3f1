import type { Call, Finding, Row, Turn, TurnContent } from 'guard-gateway/core'
import type { TProperties } from 'typebox'
import { PERS } from '#lib/budget'
import { Type } from '#lib/json'
import { cutText } from '#lib/text'
import { toolMatcher } from '#lib/tools'
import type { RecentHashes } from './detection/recent-hashes.ts'

export { letterCounts, lettersIn, lettersOf, rememberTextHashes, textHash } from './detection/letters.ts'

export { RecentHashes } from './detection/recent-hashes.ts'

export { type NewTurn, rememberTurns, type TurnNotes } from './detection/turn-memory.ts'

/** The params of a rule: what is not among these is refused. */
export const ruleParams = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

export const optionalFlag = (description: string) => Type.Optional(Type.Boolean({ description }))

export const optionalInteger = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }))

export const toolNames = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 64, description }))

/** Which earlier requests a rule compares; what ends them, and what a fresh start is, each rule says. */
export const requestParams = (says: { readonly user_message: string; readonly fresh_starts: string }) => ({
  scope: Type.Optional(
    Type.Union([Type.Literal('session'), Type.Literal('thread')], {
      description: 'Whose requests are compared: those of the session, or of one conversation',
    }),
  ),
  reset_on_user_message: optionalFlag(says.user_message),
  ignore_in_flight: optionalFlag(
    'Requests that have not ended do not count, for callers that ask several times at once',
  ),
  ignore_failed: optionalFlag('Requests that failed do not count: their repeat takes their place'),
  ignore_aborted: optionalFlag('Requests whose answer the client did not wait for do not count'),
  ignore_fresh_starts: optionalFlag(says.fresh_starts),
})

/** What a budget is of, and when it starts over. */
export const budgetParams = {
  scope: Type.Optional(
    Type.Enum(['session', 'thread', 'agent', 'project'], {
      description:
        'What is counted together: the session, one conversation of it, or the agent or the project, which need `per`',
    }),
  ),
  per: Type.Optional(
    Type.Enum(PERS, {
      description: 'With the scope agent or project: when the budget starts over; weeks begin on Monday',
    }),
  ),
}

/** A result's text after these characters is not examined. */
const RESULT_CHARS = 40_000

/** Numbers that differ from run to run: durations, clock times, addresses, ids, line numbers. */
const volatile =
  /\d+(?:\.\d+)?\s?(?:[nµu]?s|ms|secs?|seconds?|m|mins?|minutes?|h|hours?)\b|0x[0-9a-f]+|\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?|\d{4,}|(?<=\bline )\d+/gi

/** A text with the same sign in place of numbers that differ from run to run. */
export const withoutVolatile = (text: string): string => text.replace(volatile, '#')

/** How many lines of a result say something, and how many of those were not known. */
export interface LineCount {
  readonly lines: number
  readonly fresh: number
}

/** Several rules examine the lines of one turn. */
const known = new WeakMap<TurnContent, readonly (readonly number[])[]>()

/** The lines of each result of a turn that say something, as hashes; they are found once for all who ask. */
export const linesOf = (content: TurnContent): readonly (readonly number[])[] => {
  const found = known.get(content) ?? content.results.map(lineHashes)
  known.set(content, found)
  return found
}

/** Remembers the lines of a result, and counts those that were not known. */
export const countLines = (remembered: RecentHashes, lines: readonly number[]): LineCount => {
  let fresh = 0
  for (const hash of lines) if (remembered.add(hash)) fresh++
  return { lines: lines.length, fresh }
}

const lineHashes = (result: string): readonly number[] => {
  const text = withoutVolatile(result.slice(0, RESULT_CHARS))
  const hashes: number[] = []
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !endsLine(text, at)) continue
    const hash = lineHash(text, start, at)
    start = at + 1
    if (hash !== 0) hashes.push(hash)
  }
  return hashes
}

const LF = 10
const COMMA = 44
const BRACE = 125
const HASH = 35

/** A line feed, or white space after a comma or a closing brace: one long line of JSON is many. */
const endsLine = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  if (unit === LF) return true
  if (unit !== 32 && unit !== 9 && unit !== 13) return false
  const before = text.charCodeAt(at - 1)
  return before === COMMA || before === BRACE
}

/** FNV-1a of what is between, white space at the ends left out; 0 if there is no word and no number. */
const lineHash = (text: string, start: number, end: number): number => {
  let from = start
  let to = end
  while (from < to && text.charCodeAt(from) <= 32) from++
  while (to > from && text.charCodeAt(to - 1) <= 32) to--
  if (from === to) return 0
  let hash = 0x811c9dc5
  let says = false
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at)
    says ||= !isPunctuation(unit)
    hash = Math.imul(hash ^ unit, 0x01000193)
  }
  return says ? hash >>> 0 || 1 : 0
}

/** Neither letter nor digit, as far as ASCII goes: what an empty list, a brace or a ruler is made of. What stands for a number says something. */
const isPunctuation = (unit: number): boolean =>
  (unit < 48 && unit !== HASH) || (unit > 57 && unit < 65) || (unit > 90 && unit < 97) || (unit > 122 && unit < 127)

/** Which earlier requests a rule passes over by how they ended. */
interface IgnoredRequests {
  readonly ignore_in_flight?: boolean
  readonly ignore_failed?: boolean
  readonly ignore_aborted?: boolean
}

/** The rule passes over this earlier request. */
export const isIgnoredRequest = ({ outcome }: Row, ignored: IgnoredRequests): boolean => {
  if (outcome === null) return ignored.ignore_in_flight === true
  if (outcome === 'upstream_error' || outcome === 'unreachable' || outcome === 'truncated')
    return ignored.ignore_failed === true
  return (outcome === 'client_aborted' || outcome === 'interrupted') && ignored.ignore_aborted === true
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
  ignored: IgnoredRequests,
): readonly Row[] => {
  if (isFreshStart(row, call)) return []
  const own = equal.filter((earlier) => isSameSubagent(earlier, row))
  const known = new Map(past.map((earlier) => [earlier.id, earlier]))
  const before = originOf(row, known)
  if (before === undefined) return own
  const rows = past.filter((earlier) => isSameSubagent(earlier, row)).reverse()
  const follows = (earlier: Row): boolean => originOf(earlier, known) === before
  return own.slice(0, unexplained(rows, before, follows, new Set(own), ignored))
}

/** How many of a request's repeats, itself included, are more than the times that the one before was sent; rows are oldest first. */
const unexplained = (
  rows: readonly Row[],
  before: string,
  follows: (row: Row) => boolean,
  counts: ReadonlySet<Row>,
  ignored: IgnoredRequests,
): number => {
  const allowed = new Allowance()
  let repeats = 0
  for (const row of rows) {
    if (row.fingerprint === before) allowed.add(isUnanswered(row, ignored))
    else if (!isUnanswered(row, ignored) && follows(row) && !allowed.take() && counts.has(row)) repeats++
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

const isUnanswered = (row: Row, ignored: IgnoredRequests): boolean =>
  row.outcome !== null && isIgnoredRequest(row, ignored)

/** Fingerprint of what a request continues from; its own repeats are passed over. */
const originOf = (row: Row, known: ReadonlyMap<string, Row>): string | undefined => {
  let at: Row | undefined = row
  while (at !== undefined && at.fingerprint === row.fingerprint) at = known.get(at.parent ?? '')
  return at?.fingerprint
}

type Where = NonNullable<Finding['where']>

/** The most places that a finding names. */
const PLACES = 16
const TOOL_CHARS = 64

/** How many earlier rows stand in a window that ends with the request in hand. */
export const rowsInWindow = (past: readonly Row[], windowSize: number): number =>
  Math.max(0, Math.min(windowSize - 1, past.length))

/** A tool's name as a message tells it: at most 64 characters. */
export const displayToolName = (tool: string): string =>
  tool.length <= TOOL_CHARS ? tool : `${cutText(tool, TOOL_CHARS - 1)}…`

/** Equal call keys, and at least one. */
export const sameCalls = (one: Turn, other: Turn): boolean => {
  const { length } = one.calls
  if (length === 0 || length !== other.calls.length) return false
  for (let index = 0; index < length; index++) if (one.calls[index]?.key !== other.calls[index]?.key) return false
  return true
}

/** Whether two turns of the same calls had the same results; null if an empty or absent one leaves that open. */
export const sameResults = (one: Turn, other: Turn): boolean | null => {
  let equal: boolean | null = true
  for (let index = 0; index < one.calls.length; index++) {
    const first = one.calls[index]?.result ?? null
    const second = other.calls[index]?.result ?? null
    if (first === null || second === null) equal = null
    else if (first !== second) return false
  }
  return equal
}

/**
 * The period, 2 to 5, with which the last `times` × period symbols repeat; undefined if there is none.
 * `same(symbols, a, b)` compares the symbols `a` and `b` steps back; `reach` is how many symbols there are.
 */
export const periodOf = <S>(
  symbols: S,
  same: (symbols: S, a: number, b: number) => boolean,
  reach: number,
  times: number,
): number | undefined => {
  for (let period = 2; period <= 5 && period * times <= reach; period++) {
    if (hasPeriod(symbols, same, period * times, period) && isPrimitive(symbols, same, period)) return period
  }
}

const hasPeriod = <S>(
  symbols: S,
  same: (symbols: S, a: number, b: number) => boolean,
  length: number,
  period: number,
): boolean => {
  for (let back = 0; back + period < length; back++) if (!same(symbols, back, back + period)) return false
  return true
}

/** The unit is not a shorter one repeated. */
const isPrimitive = <S>(symbols: S, same: (symbols: S, a: number, b: number) => boolean, period: number): boolean => {
  for (let part = 1; part <= period / 2; part++) {
    if (period % part === 0 && hasPeriod(symbols, same, period, part)) return false
  }
  return true
}

/** Places of a finding: the newest 16 of request ids given newest first, told oldest first. */
export const requestPlaces = (ids: readonly string[]): Where =>
  ids
    .slice(0, PLACES)
    .reverse()
    .map((request) => ({ request }))

/** Places of a finding: the newest 16 of turns given as steps back from the last turn (0), newest first, told oldest first. */
export const turnPlaces = (steps: readonly number[]): Where =>
  steps
    .slice(0, PLACES)
    .reverse()
    .map((back) => ({ turn: -1 - back }))

/** Tells by the name of a tool whether one of the patterns of a rule's param means it, as `toolMatcher` does; compiled once for each list. */
export const cachedToolMatcher = (patterns: readonly string[] | undefined): ((tool: string) => boolean) => {
  if (patterns === undefined || patterns.length === 0) return never
  const known = matchers.get(patterns)
  if (known !== undefined) return known
  const matcher = toolMatcher(patterns)
  matchers.set(patterns, matcher)
  return matcher
}

const never = (): boolean => false

const matchers = new WeakMap<readonly string[], (tool: string) => boolean>()

/** How many of the last turns are one reply: the last one, and those before it whose tools ran at the provider. */
export const turnsOfReply = (turns: readonly Turn[]): number => {
  let count = Math.min(1, turns.length)
  for (let turn = turns.at(-1 - count); turn?.served === true && !turn.user_after; turn = turns.at(-1 - count)) count++
  return count
}

/** How many of the last turns, at most `most`, came after the last user message. */
export const turnsSinceUser = (turns: readonly Turn[], most: number): number => {
  const reach = Math.min(most, turns.length)
  for (let back = 0; back < reach; back++) if (turns[turns.length - 1 - back]?.user_after === true) return back
  return reach
}
