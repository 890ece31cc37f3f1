import { detector, type Ended, elapsed, type Finding } from 'guard-gateway/core'
import { optionalInteger, requestPlaces, ruleParams } from 'guard-gateway/lib/detection'

const COOLDOWN_SECONDS = 60

/** The same upstream error, one request after another; after a cool-down one request may try whether it is over. */
export const errorRetry = detector({
  id: 'error_retry',
  code: 'LOOP_ERROR_RETRY',
  summary: 'The same upstream error came again and again',
  help: 'Wait for the cool-down, or resume the session.',
  version: '1',
  kind: 'outcome',
  defaults: { threshold: 5, window_size: 0 },
  unit: 'equal errors',
  params: ruleParams({
    cooldown_seconds: optionalInteger(5, 86_400, 'Seconds after the last error until one request may pass'),
  }),
  reachable: ({ threshold }) => threshold <= 1000,

  detect({ rule, call, session }): Finding | undefined {
    const count = streakOf(session.outcomes)
    if (count === 0 || count < rule.threshold) return undefined
    const errors = session.outcomes.filter((ended) => !isNeutral(ended)).slice(-count)
    const cooldown = (rule.params?.cooldown_seconds ?? COOLDOWN_SECONDS) * 1000
    const last = errors.at(-1)
    const since = last === undefined ? cooldown : elapsed({ at: last.ended_at, tick: last.ended_tick }, call)
    const wait = cooldown - since
    const probe = !session.probe_open && wait <= 0
    return {
      message: `the same upstream error came ${count} times in a row; ${nextTry(wait, probe)}`,
      evidence: 'outcomes',
      count,
      where: requestPlaces(errors.map((ended) => ended.id).reverse()),
      // The same error is what is counted.
      results_equal: true,
      probe,
    }
  },
})

/** When a request may try again; `wait` in milliseconds. */
const nextTry = (wait: number, probe: boolean): string => {
  if (probe) return 'this request tries whether it is over'
  return wait > 0
    ? `one request may try again in ${Math.ceil(wait / 1000)} s`
    : 'one request is trying whether it is over'
}

/** How many equal errors stand at the end. */
const streakOf = (outcomes: readonly Ended[]): number => {
  let print: string | null = null
  let count = 0
  for (let index = outcomes.length - 1; index >= 0; index--) {
    const ended = outcomes[index]
    if (ended === undefined || isNeutral(ended)) continue
    if (ended.error_fingerprint === null || (print !== null && ended.error_fingerprint !== print)) break
    print = ended.error_fingerprint
    count++
  }
  return count
}

/** Says nothing about the upstream. */
const isNeutral = ({ outcome }: Ended): boolean =>
  outcome === 'client_aborted' || outcome === 'interrupted' || outcome === 'blocked'
