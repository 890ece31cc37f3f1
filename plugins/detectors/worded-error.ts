import { detector, type Finding } from 'guard-gateway/core'
import {
  letterCounts,
  lettersIn,
  optionalFlag,
  ruleParams,
  turnPlaces,
  turnsSinceUser,
} from 'guard-gateway/lib/detection'
import { COMPLAINTS, complaintLetters } from './worded-error/complaints.ts'

/**
 * The same tool complains in the same words, one tool turn after another, whatever it is asked. Errors are known by the words with which a
 * result begins, since most tools flag none; numbers, names and paths in it may differ.
 */
export const wordedError = detector({
  id: 'worded_error',
  code: 'LOOP_WORDED_ERROR',
  summary: 'A tool complains in the same words again and again',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 4, window_size: 0 },
  unit: 'equal complaints',
  params: ruleParams({
    reset_on_user_message: optionalFlag('A user message ends the streak; true unless set'),
  }),
  reachable: ({ threshold }) => threshold <= COMPLAINTS,

  measure: complaintLetters,

  detect({ rule, row, turns }): Finding | undefined {
    const groups = lettersIn(row.measures.worded_error)
    const reset = rule.params?.reset_on_user_message !== false
    const ends = (back: number) => (turns[turns.length - 1 - back]?.calls.length ?? 1) > 0
    const reach = reset ? turnsSinceUser(turns, COMPLAINTS) : Math.min(COMPLAINTS, turns.length)
    for (const { steps } of letterCounts(groups, reach, ends)) {
      if (steps.length < rule.threshold) continue
      const tool = turns.at(-1)?.calls[0]?.tool
      return {
        message: `the same complaint came in ${steps.length} tool turns in a row`,
        evidence: 'history',
        count: steps.length,
        ...(tool === undefined ? {} : { tool }),
        where: turnPlaces(steps),
        results_equal: true,
      }
    }
  },
})
