import { detector, type Finding } from 'guard-gateway/core'
import { Type } from 'typebox'

/** The session has had its number of requests, those under way included. */
export const maxRequests = detector({
  id: 'max_requests',
  code: 'LIMIT_REQUESTS',
  version: '1',
  kind: 'budget',
  defaults: { threshold: 50, window_size: 0 },
  params: Type.Object(
    {
      scope: Type.Optional(
        Type.Union([Type.Literal('session'), Type.Literal('thread')], {
          description: 'What is counted together: the session, or one conversation of it',
        }),
      ),
    },
    { additionalProperties: false },
  ),

  detect({ rule, session }): Finding | undefined {
    if (session.requests < rule.threshold) return undefined
    return {
      message: `the ${rule.params?.scope ?? 'session'} has sent ${session.requests} of ${rule.threshold} requests`,
      evidence: 'budget',
      count: session.requests,
    }
  },
})
