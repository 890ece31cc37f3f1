import { detector, type Finding } from 'guard-gateway/core'
import { letterCounts, lettersIn, turnPlaces } from 'guard-gateway/lib/detection'
import { REPLIES, repliesOf } from './text-repeat/replies.ts'

/**
 * Turns of words that say the same and hear the same: agents that speak their calls as text, and agents that are told to go on and say
 * once more what they will do. That somebody answers ends nothing here, for who answers the same each time has not looked.
 */
export const textRepeat = detector({
  id: 'text_repeat',
  code: 'LOOP_TEXT',
  summary: 'The same reply was repeated',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 8 },
  unit: 'equal replies',
  reachable: ({ threshold, window_size }) => threshold <= Math.min(window_size, REPLIES),

  measure: repliesOf,

  detect({ rule, row, turns }): Finding | undefined {
    const measure = row.measures.text_repeat
    if (typeof measure !== 'string') return undefined
    const [letters = '', kinds = ''] = measure.split(' ')
    const groups = lettersIn(letters).slice(-Math.max(1, turns.length))
    if (turns.length === 0 || kinds.endsWith('w')) return undefined
    const newChange = (back: number) => isNewChange(groups, kinds, back)
    for (const { steps } of letterCounts(groups, rule.window_size, newChange)) {
      if (steps.length < rule.threshold) continue
      return {
        message: `${steps.length} of the last ${rule.window_size} turns said the same and were answered the same`,
        evidence: 'history',
        count: steps.length,
        where: turnPlaces(steps),
        results_equal: true,
      }
    }
  },
})

/** A spoken command changed something, and no turn before it did the same: what is checked behind it is checked anew. */
const isNewChange = (groups: readonly string[], kinds: string, back: number): boolean => {
  if (kinds.charAt(kinds.length - 1 - back) !== 'c') return false
  const at = groups.length - 1 - back
  const letter = groups[at] ?? ''
  return letter === '' || !groups.slice(0, at).includes(letter)
}
