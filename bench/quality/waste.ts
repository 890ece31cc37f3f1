import { firstLoop, staleTurns } from './stale.ts'
import type { Trajectory } from './trajectory.ts'

/** Turn i, counted from 0, first travels in this request, counted from 1. */
const requestAfter = (turn: number): number => turn + 2

/** Where a loop starts to cost; requests counted from 1. */
export interface Waste {
  /** Carries the first turn that brought nothing. */
  readonly first_stale_step: number
  /** Carries the third such turn: this one and all after it are wasted. */
  readonly waste_start_step: number
}

/** Of a run labelled as a loop: by the label's own rule, or by the label where texts that were left out hide it from the rule. Null for any other run. */
export const wasteOf = ({ label, loop_start_step, steps }: Trajectory): Waste | null => {
  if (label !== 'loop') return null
  const loop = firstLoop(staleTurns(steps))
  if (loop === null) return wasteFrom(loop_start_step)
  return { first_stale_step: requestAfter(loop.first), waste_start_step: requestAfter(loop.third) }
}

/** Of a loop that is known to start with this request: two more turns are no waste yet. */
export const wasteFrom = (loopStart: number | null): Waste | null =>
  loopStart === null ? null : { first_stale_step: loopStart, waste_start_step: loopStart + 2 }
