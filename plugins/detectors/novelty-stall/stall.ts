import type { Turn } from 'guard-gateway/core'
import { cachedToolMatcher } from 'guard-gateway/lib/detection'
import { changes } from '#lib/tools'

/** What of a rule decides how turns are taken. */
export interface Limits {
  /** A user message ends the stall. */
  readonly reset: boolean
  readonly exempt: (tool: string) => boolean
  /** Names further tools that change something. */
  readonly mutating: (tool: string) => boolean
}

/** The turns since something new was seen, as steps back, newest first. */
export interface Stall {
  /** Their results said something, and all of it was known. */
  readonly known: readonly number[]
  /** They made a call again, and it said nothing, again. */
  readonly silent: readonly number[]
  /** They did nothing but wait for something. */
  readonly waiting: readonly number[]
  /** How many of `known` and `silent` made no call that was new. */
  readonly repeated: number
}

/** Goes back to the last turn that brought something. */
export const stallOf = (verdicts: string, turns: readonly Turn[], limits: Limits): Stall => {
  const stall: Growing = { known: [], silent: [], waiting: [], repeated: 0 }
  const reach = Math.min(verdicts.length, turns.length)
  for (let back = 0; back < reach; back++) {
    const turn = turns[turns.length - 1 - back]
    const verdict = verdicts.charAt(verdicts.length - 1 - back)
    const meaning = turn === undefined ? 'progress' : meaningOf(verdict, turn, limits)
    if (meaning === 'progress') break
    if (meaning === 'waiting') stall.waiting.push(back)
    if (meaning === 'stall') note(stall, verdict, back)
  }
  return stall
}

type Growing = { -readonly [Name in keyof Stall]: Stall[Name] extends readonly number[] ? number[] : number }

const note = (stall: Growing, verdict: string, back: number): void => {
  const turns = verdict === 'e' ? stall.silent : stall.known
  turns.push(back)
  if (isRepeat(verdict)) stall.repeated++
}

/** Every call of the turn was made before. */
const isRepeat = (verdict: string): boolean => verdict === 's' || verdict === 'e'

/**
 * New lines are progress, and so is a new change that did not fail, whatever it is answered. A new call that says nothing is neither:
 * most commands that do their work are silent.
 */
const meaningOf = (
  verdict: string,
  turn: Turn,
  { reset, exempt, mutating }: Limits,
): 'progress' | 'stall' | 'waiting' | 'neither' => {
  if (reset && turn.user_after) return 'progress'
  if (verdict === 't' || turn.calls.every(({ tool }) => exempt(tool))) return 'neither'
  if (verdict === 'n' || verdict === 'N') return 'progress'
  if (turn.calls.every(({ effect }) => effect === 'wait')) return 'waiting'
  if ((verdict === 'S' || verdict === 'E') && turn.calls.some((call) => isChange(call, mutating))) return 'progress'
  return verdict === 'E' ? 'neither' : 'stall'
}

const isChange = ({ tool, effect, error }: Turn['calls'][number], mutating: (tool: string) => boolean): boolean =>
  !error && (changes(effect) || mutating(tool))

/** What the params of a rule say, with what stands where they say nothing. */
export const limitsOf = (settings: {
  readonly reset_on_user_message?: boolean
  readonly exempt_tools?: readonly string[]
  readonly mutating_tools?: readonly string[]
}): Limits => ({
  reset: settings.reset_on_user_message !== false,
  exempt: cachedToolMatcher(settings.exempt_tools),
  mutating: cachedToolMatcher(settings.mutating_tools),
})

/** All these turns were answered with one and the same result. */
export const isOneAnswer = (turns: readonly Turn[], steps: readonly number[]): boolean => {
  const answers = new Set<string | null>()
  for (const back of steps) for (const { result } of turns[turns.length - 1 - back]?.calls ?? []) answers.add(result)
  return answers.size <= 1
}
