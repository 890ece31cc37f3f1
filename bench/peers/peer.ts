import type { Step } from '../quality/trajectory.ts'

/**
 * The loop guard of another agent, reimplemented from its published rule. It is no part of the product.
 * Actions of its harness (a model check, a warning, a question to the user) are omitted: a question or a refusal
 * counts as a stop.
 */
export interface Peer {
  readonly id: string
  /** Source of the published rule. */
  readonly source: string
  /** Version of that source. */
  readonly version: string
  readonly thresholds: Readonly<Record<string, number>>
  /**
   * Watches one run from its start. Takes each turn with its results, and returns the rule that stops the agent
   * before its next request.
   */
  watch(): (turn: Step) => string | undefined
}

/** Normalised text of a call. Equal texts have equal names and arguments. */
export const callKeys = ({ calls }: Step): string[] => calls.map(([tool, args]) => `${tool} ${JSON.stringify(args)}`)

/** Counts consecutive equal values. */
export const streak = (): { (value: string): number; reset(): void } => {
  let last: string | undefined
  let count = 0
  const add = (value: string): number => {
    count = value === last ? count + 1 : 1
    last = value
    return count
  }
  return Object.assign(add, {
    reset() {
      last = undefined
      count = 0
    },
  })
}
