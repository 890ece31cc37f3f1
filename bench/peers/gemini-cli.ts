import { callKeys, type Peer, streak } from './peer.ts'

const thresholds = { tool_call_loop: 5 }

/**
 * Gemini CLI's loop detection: five equal calls in a row within one prompt, whatever their results.
 * Omitted, because recorded turns do not show them: the check by a model from the 30th turn on, and repetition within
 * one reply.
 */
export const geminiCli: Peer = {
  id: 'gemini_cli',
  source: 'google-gemini/gemini-cli packages/core/src/services/loopDetectionService.ts',
  version: '022f913d',
  thresholds,
  watch() {
    const inARow = streak()
    return (turn) => {
      const most = Math.max(0, ...callKeys(turn).map(inARow))
      if (turn.user !== undefined) inARow.reset()
      return most >= thresholds.tool_call_loop ? 'tool_call_loop' : undefined
    }
  },
}
