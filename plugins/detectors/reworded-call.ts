import { detector, type Finding } from 'guard-gateway/core'
import {
  letterCounts,
  lettersIn,
  lettersOf,
  type NewTurn,
  rememberTextHashes,
  rememberTurns,
  type TurnNotes,
  textHash,
  turnPlaces,
  turnsSinceUser,
} from 'guard-gateway/lib/detection'
import { argumentText, calledTool } from '#lib/request-reader'
import { isNewChange, withoutProse } from '#lib/tools'

/** Turns that a row tells of. */
const TURNS = 20
/** Calls of one turn that are told apart. */
const PER_TURN = 3

/**
 * The same call with the same result under another description: its arguments differ only where they are told to people. A change in
 * between starts over.
 */
export const rewordedCall = detector({
  id: 'reworded_call',
  code: 'LOOP_REWORDED',
  summary: 'The same tool call was repeated in other words',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 8 },
  unit: 'equal calls',
  reachable: ({ threshold, window_size }) => threshold <= Math.min(window_size, TURNS),

  measure(call, memory) {
    const turns = rememberTurns(call, memory, notes)
    return turns === undefined || turns === null || turns.at(-1)?.length === 0 ? undefined : lettersOf(turns)
  },

  detect({ rule, row, turns }): Finding | undefined {
    const groups = lettersIn(row.measures.reworded_call)
    const ends = (back: number) => isNewChange(turns, turns.length - 1 - back)
    for (const { steps } of letterCounts(groups, turnsSinceUser(turns, rule.window_size), ends)) {
      if (steps.length < rule.threshold) continue
      return {
        message: `the same call was made ${steps.length} times under other descriptions, with the same result`,
        evidence: 'history',
        count: steps.length,
        where: turnPlaces(steps),
        results_equal: true,
      }
    }
  },
})

const notes: TurnNotes<(readonly string[])[]> = {
  begin: () => [],
  note: (turns, turn) => rememberTextHashes(turns, marksOf(turn), TURNS),
  reach: TURNS,
}

/** Calls that hold prose and were answered, each without it and with its result. */
const marksOf = ({ content }: NewTurn): readonly string[] => {
  const marks: string[] = []
  for (const [place, { tool, args }] of (content?.calls ?? []).entries()) {
    const result = content?.results[place] ?? ''
    const rest = result.trim() === '' || marks.length === PER_TURN ? undefined : withoutProse(argumentText(args))
    if (rest !== undefined && calledTool(tool, args).effect !== 'wait')
      marks.push(textHash(`${tool}\0${rest}\0${result}`))
  }
  return marks
}
