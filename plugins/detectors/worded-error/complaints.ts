import type { Call } from 'guard-gateway/core'
import {
  lettersOf,
  type NewTurn,
  rememberTextHashes,
  rememberTurns,
  type TurnNotes,
  textHash,
} from 'guard-gateway/lib/detection'
import { complaintOf } from './complaint.ts'

/** Turns that a row tells of. */
export const COMPLAINTS = 20
/** Complaints of one turn that are told apart. */
const PER_TURN = 3

const notes: TurnNotes<(readonly string[])[]> = {
  begin: () => [],
  note: (turns, turn) => rememberTextHashes(turns, complaintsOf(turn), COMPLAINTS),
  reach: COMPLAINTS,
}

/** Letters of the last turns, equal where one tool complained in the same words. Undefined where no texts can be read, or nobody did. */
export const complaintLetters = (call: Call, memory: Map<string, unknown>): string | undefined => {
  const turns = rememberTurns(call, memory, notes)
  if (turns === undefined || turns === null || turns.at(-1)?.length === 0) return undefined
  return lettersOf(turns)
}

const complaintsOf = ({ content }: NewTurn): readonly string[] => {
  const marks: string[] = []
  for (const [place, result] of (content?.results ?? []).entries()) {
    const complaint = marks.length < PER_TURN ? complaintOf(result) : undefined
    const tool = content?.calls[place]?.tool ?? content?.calls[0]?.tool ?? ''
    if (complaint !== undefined) marks.push(textHash(`${tool}\0${complaint}`))
  }
  return marks
}
