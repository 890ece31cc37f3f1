import { detector, type Finding } from 'guard-gateway/core'
import { Type } from 'typebox'

/** The session has had its number of requests. */
export const maxRequests = detector({
  id: 'max_requests',
  code: 'LIMIT_REQUESTS',
  version: '1',
  kind: 'budget',
  defaults: { threshold: 50, window_size: 0 },
  params: Type.Object(
    { reserve: Type.Optional(Type.Boolean({ description: 'Requests under way count; of requests they always do' })) },
    { additionalProperties: false },
  ),

  detect({ rule, session }): Finding | undefined {
    if (session.requests < rule.threshold) return undefined
    return {
      message: `the session has sent ${session.requests} of ${rule.threshold} requests`,
      evidence: 'budget',
      count: session.requests,
    }
  },
})
