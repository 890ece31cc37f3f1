import { callKeys, type Peer, streak } from './peer.ts'

const thresholds = { doom_loop: 3 }

const rule = (id: string, acrossTurns: boolean): Peer => ({
  id,
  source: 'https://opencode.ai/docs/permissions, anomalyco/opencode packages/opencode/src/session/processor.ts',
  version: '002d9822',
  thresholds,
  watch() {
    const inARow = streak()
    return (turn) => {
      if (!acrossTurns) inARow.reset()
      const most = Math.max(0, ...callKeys(turn).map(inARow))
      if (turn.user !== undefined) inARow.reset()
      return most >= thresholds.doom_loop ? 'doom_loop' : undefined
    }
  },
})

/**
 * opencode's `doom_loop` as implemented: the last three parts of one assistant message are the same call. Each turn
 * is a message of its own.
 */
export const opencode = rule('opencode', false)

/** `doom_loop` as documented: the same call three times in a row, whatever its results. */
export const opencodeTurns = rule('opencode_turns', true)
