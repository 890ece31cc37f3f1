import type { Call, Turn, TurnContent } from 'guard-gateway/core'
import { answeredTurn } from '#lib/threads'

/** A turn that a conversation has not been asked about before. */
export interface NewTurn {
  /** Undefined for a request that answers words: the body holds neither the turn nor a result. */
  readonly content: TurnContent | undefined
  /** Undefined for a turn that the body leaves out, and of which no reply has told the calls. */
  readonly turn: Turn | undefined
}

/** What a detector remembers of a conversation's turns, and up to where it reaches. */
interface Remembered<State> {
  readonly state: State
  turns: number
  talk: number
  tip: string
  fingerprint: string
}

/** How a detector remembers turns. */
export interface TurnNotes<State> {
  begin(): State
  note(state: State, turn: NewTurn): void
  /** How many of the last turns matter; all of them if absent. */
  readonly reach?: number
}

/**
 * Brings what is remembered of a conversation up to the request in hand: each turn is noted once, however often it is sent, and all
 * again where the history is another one. Null where there are no turns, undefined where no texts can be read.
 */
export const rememberTurns = <State>(
  call: Call,
  memory: Map<string, unknown>,
  notes: TurnNotes<State>,
): State | null | undefined => {
  const { conversation } = call
  if (conversation.turnContents === undefined) return undefined
  if (conversation.turns.length === 0 && !isReferring(call)) return null
  const remembered = rememberedOf(call, memory, notes)
  noteFresh(remembered, call, notes)
  return remembered.state
}

/** A body that leaves its history out. */
const isReferring = ({ envelope }: Call): boolean =>
  envelope.previous_response_id !== null || envelope.conversation !== null

const rememberedOf = <State>(call: Call, memory: Map<string, unknown>, notes: TurnNotes<State>): Remembered<State> => {
  const known = memory.get('turns') as Remembered<State> | undefined
  if (known !== undefined && (isReferring(call) || call.conversation.talk.tipOf(known.talk) === known.tip)) return known
  const remembered = { state: notes.begin(), turns: 0, talk: 0, tip: '', fingerprint: '' }
  memory.set('turns', remembered)
  return remembered
}

/** A body that leaves its history out holds new turns only. */
const noteFresh = <State>(remembered: Remembered<State>, call: Call, notes: TurnNotes<State>): void => {
  const { conversation } = call
  const { turns, talk, fingerprint } = conversation
  if (remembered.fingerprint === fingerprint) return
  const fresh = isReferring(call) ? Number.POSITIVE_INFINITY : turns.length - remembered.turns
  const contents = fresh > 0 ? (conversation.turnContents?.(Math.min(fresh, notes.reach ?? fresh)) ?? []) : []
  const first = turns.length - contents.length
  if (contents.length === 0 && isReferring(call)) notes.note(remembered.state, { content: undefined, turn: undefined })
  for (const [index, content] of contents.entries())
    notes.note(remembered.state, { content, turn: turns[first + index] ?? answeredTurn(call) })
  remembered.turns = turns.length
  remembered.talk = talk.length
  remembered.tip = talk.tip
  remembered.fingerprint = fingerprint
}
