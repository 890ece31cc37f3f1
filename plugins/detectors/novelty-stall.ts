import { type Call, detector, type Finding, type Turn, type TurnContent } from 'guard-gateway/core'
import {
  cachedToolMatcher,
  countLines,
  linesOf,
  type NewTurn,
  optionalFlag,
  optionalInteger,
  RecentHashes,
  rememberTurns,
  ruleParams,
  type TurnNotes,
  turnPlaces,
} from 'guard-gateway/lib/detection'
import { Type } from 'guard-gateway/lib/json'
import { changes } from '#lib/tools'

const REPEATED_CALLS = 2
const WAIT_THRESHOLD = 20
/** One and the same answer says more than several that are known. */
const ONE_ANSWER = 1
/** Silence says less than an answer that is known. */
const SILENT = 2

const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 64, description }))

/** Verdicts that a row keeps, one character a turn. */
const VERDICTS = 128

/** What is remembered of a conversation: its lines and calls as hashes, and the verdicts. */
interface Seen {
  readonly lines: RecentHashes
  readonly keys: RecentHashes
  verdicts: string
}

const notes: TurnNotes<Seen> = {
  begin: () => ({ lines: new RecentHashes(), keys: new RecentHashes(), verdicts: '' }),
  note(seen, turn) {
    seen.verdicts = (seen.verdicts + verdictOf(seen, turn)).slice(-VERDICTS)
  },
}

/**
 * A verdict a turn, of those up to the last one: `n` new lines, `s` none, `e` only empty results, `t` no tool; a capital says that one of
 * its calls is new. Undefined where no results can be read.
 */
const verdictsOf = (call: Call, memory: Map<string, unknown>): string | undefined => {
  const seen = rememberTurns(call, memory, notes)
  return seen === null ? '' : seen?.verdicts
}

/** The calls of a turn that the body leaves out are not known: they are taken for new. */
const verdictOf = (seen: Seen, { content, turn }: NewTurn): string => {
  if (content === undefined || (turn !== undefined && turn.calls.length === 0)) return 't'
  let fresh = turn === undefined
  for (const { key } of turn?.calls ?? []) if (seen.keys.add(Number.parseInt(key.slice(0, 8), 16))) fresh = true
  const verdict = textVerdict(seen, content)
  return fresh ? verdict.toUpperCase() : verdict
}

const textVerdict = ({ lines: known }: Seen, content: TurnContent): 'n' | 's' | 'e' => {
  let verdict: 'n' | 's' | 'e' = 'e'
  for (const lines of linesOf(content)) {
    const counted = countLines(known, lines)
    if (counted.fresh > 0) verdict = 'n'
    else if (counted.lines > 0 && verdict === 'e') verdict = 's'
  }
  return verdict
}

/**
 * Tool turns whose results hold no line that the conversation has not shown before, while calls repeat among them. A new change that is
 * acknowledged as others were is progress, and waiting is another matter until it has lasted. The end of good work looks alike: what was
 * changed is looked at once more. So the model is told, and nothing is refused.
 */
export const noveltyStall = detector({
  id: 'novelty_stall',
  code: 'LOOP_NO_PROGRESS',
  summary: 'Tool results bring nothing new',
  version: '2',
  kind: 'loop',
  advisory: true,
  defaults: { threshold: 6, window_size: 0, action: 'steer' },
  unit: 'turns',
  params: ruleParams({
    repeated_calls: optionalInteger(
      0,
      VERDICTS,
      `So many of the turns repeat calls made before; ${REPEATED_CALLS} unless set, and 0 is for flags alone: new calls with known answers may be work`,
    ),
    wait_threshold: optionalInteger(
      2,
      VERDICTS,
      `Turns that only wait, from which on they have gone nowhere; ${WAIT_THRESHOLD} unless set`,
    ),
    reset_on_user_message: optionalFlag('A user message ends the stall; true unless set'),
    exempt_tools: names('Turns that call nothing but these are passed over; `*` stands for any characters'),
    mutating_tools: names('Further tools that change something: a call with new arguments is progress'),
  }),
  reachable: ({ threshold }) => threshold <= VERDICTS,

  measure: verdictsOf,

  detect({ rule, row, turns }): Finding | undefined {
    const verdicts = row.measures.novelty_stall
    if (typeof verdicts !== 'string') return undefined
    const settings = rule.params ?? {}
    const stall = stallOf(verdicts, turns, limitsOf(settings))
    if (stall.waiting.length >= (settings.wait_threshold ?? WAIT_THRESHOLD))
      return finding(stall.waiting, `${stall.waiting.length} tool turns waited for something that did not change`)
    if (stall.repeated < (settings.repeated_calls ?? REPEATED_CALLS)) return undefined
    const steps = stalledSteps(stall, rule.threshold, (known) => isOneAnswer(turns, known))
    return steps && finding(steps, `${steps.length} tool turns in a row brought nothing that had not been seen before`)
  },
})

/** The turns of a stall that is long enough; undefined of a shorter one. */
const stalledSteps = (
  { known, silent }: Stall,
  threshold: number,
  isOne: (steps: readonly number[]) => boolean,
): readonly number[] | undefined => {
  if (known.length >= threshold) return known
  if (known.length >= Math.max(2, threshold - ONE_ANSWER) && isOne(known)) return known
  if (silent.length > 0 && known.length + silent.length >= threshold + SILENT)
    return [...known, ...silent].sort((one, other) => one - other)
}

const finding = (steps: readonly number[], message: string): Finding => ({
  message,
  evidence: 'history',
  count: steps.length,
  where: turnPlaces(steps),
  results_equal: true,
})

/** What of a rule decides how turns are taken. */
interface Limits {
  /** A user message ends the stall. */
  readonly reset: boolean
  readonly exempt: (tool: string) => boolean
  /** Names further tools that change something. */
  readonly mutating: (tool: string) => boolean
}

/** The turns since something new was seen, as steps back, newest first. */
interface Stall {
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
const stallOf = (verdicts: string, turns: readonly Turn[], limits: Limits): Stall => {
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
const limitsOf = (settings: {
  readonly reset_on_user_message?: boolean
  readonly exempt_tools?: readonly string[]
  readonly mutating_tools?: readonly string[]
}): Limits => ({
  reset: settings.reset_on_user_message !== false,
  exempt: cachedToolMatcher(settings.exempt_tools),
  mutating: cachedToolMatcher(settings.mutating_tools),
})

/** All these turns were answered with one and the same result. */
const isOneAnswer = (turns: readonly Turn[], steps: readonly number[]): boolean => {
  const answers = new Set<string | null>()
  for (const back of steps) for (const { result } of turns[turns.length - 1 - back]?.calls ?? []) answers.add(result)
  return answers.size <= 1
}
