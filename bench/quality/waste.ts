import { firstLoop, staleTurns } from './stale.ts'
import type { Trajectory } from './trajectory.ts'

/** The first request (from 1) that contains a turn (from 0). */
const requestAfter = (turn: number): number => turn + 2

/** The start of the waste of a loop. Requests are counted from 1. */
export interface Waste {
  /** The request with the first stale turn. */
  readonly first_stale_step: number
  /** The request with the third stale turn. This request and all later ones are wasted. */
  readonly waste_start_step: number
}

/**
 * The waste of a run labelled as a loop, by the rule of the label. If omitted texts hide the loop from the rule, the
 * label decides. Null for other runs.
 */
export const wasteOf = ({ label, loop_start_step, steps }: Trajectory): Waste | null => {
  if (label !== 'loop') return null
  const loop = firstLoop(staleTurns(steps))
  if (loop === null) return wasteFrom(loop_start_step)
  return { first_stale_step: requestAfter(loop.first), waste_start_step: requestAfter(loop.third) }
}

/** The waste of a loop that starts with this request. Its first two requests are not yet waste. */
export const wasteFrom = (loopStart: number | null): Waste | null =>
  loopStart === null ? null : { first_stale_step: loopStart, waste_start_step: loopStart + 2 }
