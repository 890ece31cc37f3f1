import { type Call, RecentHashes, type Turn } from 'guard-gateway/core'
import { noteLines } from './lines.ts'

/** Verdicts that a row keeps, one character a turn. */
export const VERDICTS = 128

/**
 * A verdict a turn, of those up to the last one: `n` new lines, `s` none, `e` only empty results, `t` no tool; a capital says that one of
 * its calls is new. Undefined where no results can be read.
 */
export const verdictsOf = (call: Call, memory: Map<string, unknown>): string | undefined => {
  const { conversation } = call
  if (conversation.resultTexts === undefined) return undefined
  if (conversation.turns.length === 0 && !isReferring(call)) return ''
  const state = stateOf(call, memory)
  note(state, call)
  return state.verdicts
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
