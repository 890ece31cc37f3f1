import type { Step, StepResult } from './trajectory.ts'

/** Number of earlier turns that are searched for an equal call. */
const TURNS_BACK = 10
/** This number of stale turns within `WITHIN` turns is a loop. */
const STALE_TURNS = 3
const WITHIN = 6

const changes = /edit|write|create|insert|replace|patch|apply|update|delete|remove|append/i

/** The compared fields of a call. Null: nothing to compare. */
interface CallOutcome {
  readonly tool: string
  readonly key: string
  readonly result: string | null
  readonly error: string | null
}

/**
 * Marks stale turns by the rule that labels the recorded runs: the same call with the same non-empty result within
 * ten turns, the same tool with the same error, digits aside, in two consecutive turns, or the same change in three
 * consecutive turns.
 */
export const staleTurns = (steps: readonly Step[]): readonly boolean[] => {
  const turns = steps.map(seenIn)
  return turns.map((calls, at) =>
    calls.some((call) => isRepeated(call, turns, at) || failsAgain(call, turns, at) || changesAgain(call, turns, at)),
  )
}

/** The first and the third stale turn of the first loop, counted from 0. Null without a loop. */
export const firstLoop = (stale: readonly boolean[]): { readonly first: number; readonly third: number } | null => {
  const places = stale.flatMap((one, place) => (one ? [place] : []))
  for (const [index, first] of places.entries()) {
    const third = places[index + STALE_TURNS - 1]
    if (third !== undefined && third - first < WITHIN) return { first, third }
  }
  return null
}

const seenIn = ({ calls, results }: Step): CallOutcome[] =>
  calls.map(([tool, args], place) => ({
    tool,
    key: `${tool} ${JSON.stringify(args)}`,
    result: printOf(results[place]),
    error: errorOf(results[place]),
  }))

const printOf = (result: StepResult | undefined): string | null =>
  result === undefined || result.empty ? null : (result.hash ?? result.text ?? null)

const errorOf = (result: StepResult | undefined): string | null => {
  if (result === undefined || !result.error) return null
  return result.masked_hash ?? result.text?.replace(/\d+/g, '#') ?? result.hash ?? null
}

const isRepeated = ({ key, result }: CallOutcome, turns: readonly CallOutcome[][], at: number): boolean =>
  result !== null &&
  turns
    .slice(Math.max(0, at - TURNS_BACK), at)
    .some((calls) => calls.some((one) => one.key === key && one.result === result))

const failsAgain = ({ tool, error }: CallOutcome, turns: readonly CallOutcome[][], at: number): boolean =>
  error !== null && (turns[at - 1] ?? []).some((one) => one.tool === tool && one.error === error)

const changesAgain = ({ tool, key }: CallOutcome, turns: readonly CallOutcome[][], at: number): boolean =>
  changes.test(tool) && [1, 2].every((back) => (turns[at - back] ?? []).some((one) => one.key === key))
