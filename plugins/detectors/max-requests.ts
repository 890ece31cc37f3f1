import { detector, type Finding } from 'guard-gateway/core'
import { Type } from 'typebox'

/** The session has had its number of requests, those under way included; with `reserve` those that failed give their place back. */
export const maxRequests = detector({
  id: 'max_requests',
  code: 'LIMIT_REQUESTS',
  version: '1',
  kind: 'budget',
  defaults: { threshold: 50, window_size: 0 },
  unit: 'requests',
  params: Type.Object(
    {
      reserve: Type.Optional(
        Type.Boolean({
          description: 'A request only holds a place while it is under way: one that failed gives it back',
        }),
      ),
      scope: Type.Optional(
        Type.Union([Type.Literal('session'), Type.Literal('thread')], {
          description: 'What is counted together: the session, or one conversation of it',
        }),
      ),
    },
    { additionalProperties: false },
  ),

  detect({ rule, session }): Finding | undefined {
    const returned = rule.params?.reserve === true ? session.failed : 0
    const count = session.requests - returned
    if (count < rule.threshold) return undefined
    const failed = returned === 0 ? '' : `, ${returned} that failed not counted`
    return {
      message: `the ${rule.params?.scope ?? 'session'} has sent ${count} of ${rule.threshold} requests${failed}`,
      evidence: 'budget',
      count,
    }
  },
})
