import { detector, type Finding } from 'guard-gateway/core'
import { optionalFlag, optionalInteger, ruleParams, turnPlaces } from 'guard-gateway/lib/detection'
import { Type } from 'guard-gateway/lib/json'
import { isOneAnswer, limitsOf, type Stall, stallOf } from './novelty-stall/stall.ts'
import { VERDICTS, verdictsOf } from './novelty-stall/verdicts.ts'

const REPEATED_CALLS = 2
const WAIT_THRESHOLD = 20
/** One and the same answer says more than several that are known. */
const ONE_ANSWER = 1
/** Silence says less than an answer that is known. */
const SILENT = 2

const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 64, description }))

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
