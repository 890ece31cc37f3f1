import { detector, type Finding, reachOf, requestPlaces } from 'guard-gateway/core'

/** The same normalised request, again and again. */
export const exactRepeat = detector({
  id: 'exact_repeat',
  code: 'LOOP_EXACT',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 8 },
  reachable: ({ threshold, window_size }) => threshold <= Math.max(1, window_size),

  detect({ rule, row, past }): Finding | undefined {
    const reach = reachOf(past, rule.window_size)
    let count = 1
    for (let index = 0; index < reach; index++) if (past[index]?.fingerprint === row.fingerprint) count++
    if (count < rule.threshold) return undefined
    const same = past.slice(0, reach).filter((earlier) => earlier.fingerprint === row.fingerprint)
    return {
      message: `${count} identical requests in the last ${reach + 1}`,
      evidence: 'session',
      count,
      where: requestPlaces([row.id, ...same.map((earlier) => earlier.id)]),
    }
  },
})
