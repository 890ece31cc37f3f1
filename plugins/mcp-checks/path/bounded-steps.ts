import { CHECK_TIMED_OUT, type Violation } from 'guard-gateway/lib/check-arguments'
import { inTurns, Pace } from 'guard-gateway/lib/time-slice'

/** Work that yields between steps, and its result. */
export type Steps<Result> = Generator<undefined, Result | undefined>

/** Time limit for the steps of one text, in milliseconds. */
const MAX_MS = 1_000

function* bounded(steps: Steps<Violation>, isLate: () => boolean): Steps<Violation> {
  let worked = 0
  for (;;) {
    if (worked > MAX_MS || isLate()) return CHECK_TIMED_OUT
    const since = performance.now()
    const step = steps.next()
    worked += performance.now() - since
    if (step.done === true) return step.value
    yield
  }
}

/** Runs the steps: short work synchronously, longer work with yields to the event loop. After the time limit the result is uncertain. */
export const runSteps = (
  steps: Steps<Violation>,
  isLate: () => boolean,
): Violation | undefined | Promise<Violation | undefined> => inTurns(bounded(steps, isLate), new Pace())
