import type { Step } from '../quality/trajectory.ts'

/**
 * The guard of another agent, by its published rule, written again from what is published: no part of the product.
 * What its harness does beside the rule (asking a model, warning first, asking a person) is left out: where it asks or refuses, it stops.
 */
export interface Peer {
  readonly id: string
  /** Where the rule is told. */
  readonly source: string
  /** What that was the state of. */
  readonly version: string
  readonly thresholds: Readonly<Record<string, number>>
  /** Watches one run from its beginning. Told each turn with its results, it says which rule stops the agent before its next request. */
  watch(): (turn: Step) => string | undefined
}

/** A call of a turn in one spelling; equal ones have equal names and arguments. */
export const callKeys = ({ calls }: Step): string[] => calls.map(([tool, args]) => `${tool} ${JSON.stringify(args)}`)

/** Counts how often something comes in a row. */
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
