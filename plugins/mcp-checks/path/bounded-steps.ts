import { CHECK_TIMED_OUT, type Violation } from 'guard-gateway/lib/check-arguments'
import { inTurns, Pace } from 'guard-gateway/lib/time-slice'

/** Work that yields between steps, and what comes of it. */
export type Steps<Result> = Generator<undefined, Result | undefined>

/** Time that the steps of one text may take, in milliseconds. */
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

/** What the steps find: at once where they are short, else with the turns of others in between. When their time is over, nobody can tell. */
export const runSteps = (
  steps: Steps<Violation>,
  isLate: () => boolean,
): Violation | undefined | Promise<Violation | undefined> => inTurns(bounded(steps, isLate), new Pace())
