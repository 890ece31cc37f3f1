import type { Case } from './case.ts'
import type { Observation } from './observation.ts'

/** An alarm more than this number of steps before the loop has another cause. */
const STEPS_EARLY = 4

type Verdict = Pick<
  Observation,
  'first_detection_step' | 'lag_steps' | 'outcome' | 'false_positive' | 'false_negative' | 'harmful_block'
>

/** Rates an alarm at this request, or a missing alarm. Requests are counted from 1. */
export const verdictOf = (one: Case, step: number | null, excluded: boolean): Verdict => {
  const outcome = excluded ? 'excluded' : outcomeOf(one, step)
  const hit = outcome === 'tp' && step !== null && one.loop_start_step !== null
  return {
    first_detection_step: step,
    lag_steps: hit ? Math.max(0, step - (one.loop_start_step ?? step)) : null,
    outcome,
    false_positive: outcome === 'fp' || outcome === 'early',
    false_negative: outcome === 'fn',
    harmful_block: step !== null && one.resolved === true,
  }
}

const outcomeOf = ({ label, loop_start_step }: Case, step: number | null): Observation['outcome'] => {
  if (label === 'clean') return step === null ? 'tn' : 'fp'
  if (label !== 'loop') return 'excluded'
  if (step === null) return 'fn'
  return loop_start_step !== null && step < loop_start_step - STEPS_EARLY ? 'early' : 'tp'
}
