import { detector, type Finding, type Row, reachOf, requestPlaces } from 'guard-gateway/core'
import { type Static, Type } from 'typebox'

const params = Type.Object(
  {
    scope: Type.Optional(
      Type.Union([Type.Literal('session'), Type.Literal('thread')], {
        description: 'Whose requests are compared: those of the session, or of one conversation',
      }),
    ),
    ignore_in_flight: Type.Optional(
      Type.Boolean({
        description: 'Requests that have not ended do not count, for callers that ask several times at once',
      }),
    ),
    ignore_failed: Type.Optional(
      Type.Boolean({ description: 'Requests that failed do not count: their repeat takes their place' }),
    ),
  },
  { additionalProperties: false },
)

/** The same normalised request, again and again. */
export const exactRepeat = detector({
  id: 'exact_repeat',
  code: 'LOOP_EXACT',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 8 },
  unit: 'equal requests',
  params,
  reachable: ({ threshold, window_size }) => threshold <= Math.max(1, window_size),

  detect({ rule, row, past }): Finding | undefined {
    const reach = reachOf(past, rule.window_size)
    let count = 1
    for (let index = 0; index < reach; index++) if (isSame(past[index], row, rule.params)) count++
    if (count < rule.threshold) return undefined
    const same = past.slice(0, reach).filter((earlier) => isSame(earlier, row, rule.params))
    return {
      message: `${count} identical requests in the last ${reach + 1}`,
      evidence: 'session',
      count,
      where: requestPlaces([row.id, ...same.map((earlier) => earlier.id)]),
      // Identical requests carry identical results.
      results_equal: true,
    }
  },
})

const isSame = (earlier: Row | undefined, row: Row, given: Static<typeof params> | undefined): boolean =>
  earlier !== undefined &&
  earlier.fingerprint === row.fingerprint &&
  !(given?.ignore_in_flight === true && earlier.outcome === null) &&
  !(given?.ignore_failed === true && hasFailed(earlier))

const hasFailed = ({ outcome }: Row): boolean =>
  outcome === 'upstream_error' || outcome === 'unreachable' || outcome === 'truncated'
