import { type Call, detector, type Finding, namesTool, RecentHashes, type Turn, turnPlaces } from 'guard-gateway/core'
import { Type } from 'typebox'

/** A result's text behind these characters is not looked at. */
const RESULT_CHARS = 40_000
/** Verdicts that a row keeps, one character a turn. */
const VERDICTS = 128
/** Names under which tools write, unless the rule gives its own. */
const MUTATING = [
  'edit*',
  'write*',
  'create*',
  'insert*',
  'replace*',
  'str_replace*',
  'apply*',
  'patch*',
  'update*',
  'delete*',
  'remove*',
  'append*',
]

/**
 * Tool turns whose results hold no line that the conversation has not shown before.
 * A verdict a turn: `n` new lines, `s` none, `e` only empty results, `t` no tool; a capital says that one of its calls is new.
 */
export const noveltyStall = detector({
  id: 'novelty_stall',
  code: 'LOOP_NO_PROGRESS',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 6, window_size: 0, params: { mutating_tools: MUTATING } },
  unit: 'turns',
  params: Type.Object(
    {
      reset_on_user_message: Type.Optional(
        Type.Boolean({ description: 'A user message ends the stall; true unless set' }),
      ),
      exempt_tools: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
          maxItems: 64,
          description: 'Turns that call nothing but these are passed over; `*` stands for any characters',
        }),
      ),
      mutating_tools: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
          maxItems: 64,
          description: 'Tools that change something: a call with new arguments is progress, whatever its result',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  reachable: ({ threshold }) => threshold <= VERDICTS,

  measure: (call, memory) => {
    const { conversation } = call
    if (conversation.resultTexts === undefined) return undefined
    if (conversation.turns.length === 0 && !isReferring(call)) return ''
    const state = stateOf(call, memory)
    note(state, call)
    return state.verdicts
  },

  detect({ rule, row, turns }): Finding | undefined {
    const verdicts = row.measures.novelty_stall
    if (typeof verdicts !== 'string') return undefined
    const { reset_on_user_message, exempt_tools, mutating_tools } = rule.params ?? {}
    const steps = stalled(verdicts, turns, {
      reset: reset_on_user_message !== false,
      exempt: namesTool(exempt_tools),
      mutating: namesTool(mutating_tools ?? MUTATING),
    })
    if (steps.length < rule.threshold) return undefined
    return {
      message: `${steps.length} tool turns in a row brought nothing that had not been seen before`,
      evidence: 'history',
      count: steps.length,
      where: turnPlaces(steps),
      results_equal: true,
    }
  },
})

interface Limits {
  readonly reset: boolean
  readonly exempt: (tool: string) => boolean
  readonly mutating: (tool: string) => boolean
}

/** Steps back to the turns that brought nothing new, up to one that did, newest first. */
const stalled = (verdicts: string, turns: readonly Turn[], limits: Limits): number[] => {
  const steps: number[] = []
  const reach = Math.min(verdicts.length, turns.length)
  for (let back = 0; back < reach; back++) {
    const turn = turns[turns.length - 1 - back]
    const meaning =
      turn === undefined ? 'progress' : meaningOf(verdicts.charAt(verdicts.length - 1 - back), turn, limits)
    if (meaning === 'progress') break
    if (meaning === 'stall') steps.push(back)
  }
  return steps
}

const meaningOf = (
  verdict: string,
  turn: Turn,
  { reset, exempt, mutating }: Limits,
): 'progress' | 'stall' | 'neither' => {
  if (reset && turn.user_after) return 'progress'
  if (verdict === 't' || turn.calls.every(({ tool }) => exempt(tool))) return 'neither'
  if (verdict === 'n' || verdict === 'N') return 'progress'
  if ((verdict === 'S' || verdict === 'E') && turn.calls.some(({ tool }) => mutating(tool))) return 'progress'
  return verdict === 'E' ? 'neither' : 'stall'
}

/** What is remembered of a conversation: its lines and calls as hashes, the verdicts, and up to where they reach. */
interface State {
  readonly lines: RecentHashes
  readonly keys: RecentHashes
  verdicts: string
  turns: number
  talk: number
  tip: string
  fingerprint: string
}

/** A body that leaves its history out. */
const isReferring = ({ envelope }: Call): boolean =>
  envelope.previous_response_id !== null || envelope.conversation !== null

const stateOf = (call: Call, memory: Map<string, unknown>): State => {
  const { conversation } = call
  const known = memory.get('state') as State | undefined
  if (known !== undefined && (isReferring(call) || conversation.talk.tipOf(known.talk) === known.tip)) return known
  const state: State = {
    lines: new RecentHashes(),
    keys: new RecentHashes(),
    verdicts: '',
    turns: 0,
    talk: 0,
    tip: '',
    fingerprint: '',
  }
  memory.set('state', state)
  return state
}

/** Adds the verdicts of the turns that are new; a body that leaves its history out holds new turns only. */
const note = (state: State, call: Call): void => {
  const { conversation } = call
  const { turns, talk, fingerprint } = conversation
  if (state.fingerprint === fingerprint) return
  const fresh = isReferring(call) ? Number.POSITIVE_INFINITY : turns.length - state.turns
  const texts = fresh > 0 ? (conversation.resultTexts?.(fresh) ?? []) : []
  const first = turns.length - texts.length
  // without results it answers words
  let added = texts.length === 0 && isReferring(call) ? 't' : ''
  for (const [index, results] of texts.entries()) added += verdictOf(state, turns[first + index], results)
  state.verdicts = (state.verdicts + added).slice(-VERDICTS)
  state.turns = turns.length
  state.talk = talk.length
  state.tip = talk.tip
  state.fingerprint = fingerprint
}

/** The calls of a turn that the body leaves out are not known: they are taken for new. */
const verdictOf = (state: State, turn: Turn | undefined, results: readonly string[]): string => {
  if (turn !== undefined && turn.calls.length === 0) return 't'
  let fresh = turn === undefined
  for (const { key } of turn?.calls ?? []) if (state.keys.add(Number.parseInt(key.slice(0, 8), 16))) fresh = true
  let verdict = 'e'
  for (const text of results) {
    const said = noteLines(state.lines, text)
    if (said === 'n' || verdict === 'e') verdict = said
  }
  return fresh ? verdict.toUpperCase() : verdict
}

/** Numbers that differ from run to run: durations, clock times, addresses, ids, line numbers. */
const volatile =
  /\d+(?:\.\d+)?\s?(?:[nµu]?s|ms|secs?|seconds?|m|mins?|minutes?|h|hours?)\b|0x[0-9a-f]+|\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?|\d{4,}|(?<=\bline )\d+/gi

/** Remembers the lines of a result: `n` if one of them was not known, `s` if all were, `e` if there are none. */
const noteLines = (lines: RecentHashes, result: string): 'n' | 's' | 'e' => {
  const text = result.slice(0, RESULT_CHARS).replace(volatile, '#')
  let said: 'n' | 's' | 'e' = 'e'
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !endsLine(text, at)) continue
    const hash = lineHash(text, start, at)
    start = at + 1
    if (hash === 0) continue
    if (lines.add(hash)) said = 'n'
    else if (said === 'e') said = 's'
  }
  return said
}

const LF = 10
const COMMA = 44
const BRACE = 125
const HASH = 35

/** A line feed, or white space behind a comma or a closing brace: one long line of JSON is many. */
const endsLine = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  if (unit === LF) return true
  if (unit !== 32 && unit !== 9 && unit !== 13) return false
  const before = text.charCodeAt(at - 1)
  return before === COMMA || before === BRACE
}

/** FNV-1a of what stands between, white space at the ends left out; 0 if there is no word and no number. */
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
    says ||= !isSign(unit)
    hash = Math.imul(hash ^ unit, 0x01000193)
  }
  return says ? hash >>> 0 || 1 : 0
}

/** Neither letter nor digit, as far as ASCII goes: what an empty list, a brace or a ruler is made of. What stands for a number says something. */
const isSign = (unit: number): boolean =>
  (unit < 48 && unit !== HASH) || (unit > 57 && unit < 65) || (unit > 90 && unit < 97) || (unit > 122 && unit < 127)
