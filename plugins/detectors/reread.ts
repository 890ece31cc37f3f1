import { detector, type Finding } from 'guard-gateway/core'
import { letterCounts, lettersIn, turnPlaces, turnsSinceUser } from 'guard-gateway/lib/detection'
import { isNewChange } from 'guard-gateway/lib/tools'
import { LOOKS, lookLetters } from './reread/looks.ts'

/** One file or address is looked at again and again in other pieces, and hardly a line of it is new. A change in between starts over. */
export const reread = detector({
  id: 'reread',
  code: 'LOOP_REREAD',
  summary: 'One target is looked at again and again',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 6, window_size: 12 },
  unit: 'looks without new lines',
  reachable: ({ threshold, window_size }) => threshold <= Math.min(window_size, LOOKS),

  measure: lookLetters,

  detect({ rule, row, turns }): Finding | undefined {
    const groups = lettersIn(row.measures.reread)
    const ends = (back: number) => isNewChange(turns, turns.length - 1 - back)
    for (const { steps } of letterCounts(groups, turnsSinceUser(turns, rule.window_size), ends)) {
      if (steps.length < rule.threshold) continue
      return {
        message: `the same target was looked at in ${steps.length} of the last ${rule.window_size} turns, and hardly a line was new`,
        evidence: 'history',
        count: steps.length,
        where: turnPlaces(steps),
        results_equal: null,
      }
    }
  },
})
