import type { Step, StepResult } from './trajectory.ts'

/** How far back a call is looked for again. */
const TURNS_BACK = 10
/** So many stale turns within so many turns are a loop. */
const STALE_TURNS = 3
const WITHIN = 6

const changes = /edit|write|create|insert|replace|patch|apply|update|delete|remove|append/i

/** A call as the rule compares it; null where there is nothing to compare. */
interface CallOutcome {
  readonly tool: string
  readonly key: string
  readonly result: string | null
  readonly error: string | null
}

/**
 * Which turns brought nothing, by the rule that the recorded runs are labelled with: the same call with the same
 * non-empty result within ten turns, the same tool with the same error but for its numbers in two turns running,
 * or the same change made in three turns running.
 */
export const staleTurns = (steps: readonly Step[]): readonly boolean[] => {
  const turns = steps.map(seenIn)
  return turns.map((calls, at) =>
    calls.some((call) => isRepeated(call, turns, at) || failsAgain(call, turns, at) || changesAgain(call, turns, at)),
  )
}

/** The turns, counted from 0, of the first and the third stale turn of the first loop; null if there is none. */
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
