import type { Finding, Row, Turn } from 'guard-gateway/core'
import { cutText } from 'guard-gateway/lib/text'
import { toolMatcher } from 'guard-gateway/lib/tools'

type Where = NonNullable<Finding['where']>

/** The most places that a finding names. */
const PLACES = 16
const TOOL_CHARS = 64

/** How many earlier rows stand in a window that ends with the request in hand. */
export const rowsInWindow = (past: readonly Row[], windowSize: number): number =>
  Math.max(0, Math.min(windowSize - 1, past.length))

/** A tool's name as a message tells it: at most 64 characters. */
export const shownToolName = (tool: string): string =>
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
