import type { StepResult } from '../quality/trajectory.ts'
import { type Peer, streak } from './peer.ts'

const thresholds = { repeated_error: 3, error_chars: 100 }

/**
 * goose's REP-002: a tool that returned the same error three times in a row, by its first hundred characters, is
 * refused at its next call with any arguments. REP-001, the limit on equal calls, is off by default. A result is an
 * error if it has the error flag. A hash stands for the whole text.
 */
export const goose: Peer = {
  id: 'goose',
  source: 'https://github.com/aaif-goose/goose/pull/8994, crates/goose/src/tool_monitor.rs',
  version: '37c043b9',
  thresholds,
  watch() {
    const inARow = streak()
    let refused: string | undefined
    const hear = (tool: string, result: StepResult | undefined): void => {
      if (result === undefined) return
      if (!result.error) inARow.reset()
      refused = result.error && inARow(`${tool} ${errorOf(result)}`) >= thresholds.repeated_error ? tool : undefined
    }
    return ({ calls, results }) => {
      const isRefused = refused !== undefined && calls.some(([tool]) => tool === refused)
      // the next call of any tool lifts the refusal and resets the count
      if (refused !== undefined && calls.length > 0) {
        refused = undefined
        inARow.reset()
      }
      for (const [place, [tool]] of calls.entries()) hear(tool, results[place])
      return isRefused ? 'REP-002' : undefined
    }
  },
}

const errorOf = ({ text, masked_hash, hash }: StepResult): string =>
  text?.slice(0, thresholds.error_chars) ?? masked_hash ?? hash ?? ''
