import type { Step } from '../quality/trajectory.ts'
import { callKeys, type Peer, streak } from './peer.ts'

const thresholds = { repeated_call: 5, mistakes: 3 }

/** An argument that reports progress and is not compared. */
const PROGRESS = 'task_progress'

/**
 * Cline's rule: five equal calls in a row, whatever their results (a warning at three), or three mistakes in a row.
 * The only mistake in recorded turns is a turn without a call. The harness replies to each with the same words.
 */
export const cline: Peer = {
  id: 'cline',
  source: 'https://github.com/cline/cline/pull/9933, src/core/task/loop-detection.ts',
  version: '3.76.0',
  thresholds,
  watch() {
    const inARow = streak()
    const mistakes = streak()
    return (turn) => {
      if (Math.max(0, ...callKeys(withoutProgress(turn)).map(inARow)) >= thresholds.repeated_call)
        return 'repeated_call'
      if (turn.calls.length > 0 || turn.user === undefined) mistakes.reset()
      else if (mistakes(turn.user) >= thresholds.mistakes) return 'mistake_limit'
      return undefined
    }
  },
}

const withoutProgress = (turn: Step): Step => ({
  ...turn,
  calls: turn.calls.map(([tool, args]) => [tool, hasProgress(args) ? { ...args, [PROGRESS]: undefined } : args]),
})

const hasProgress = (args: unknown): args is object => typeof args === 'object' && args !== null && PROGRESS in args
