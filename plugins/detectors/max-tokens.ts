import { detector, type Finding } from 'guard-gateway/core'
import { Type } from 'typebox'

/** The session has had its number of recorded tokens. */
export const maxTokens = detector({
  id: 'max_tokens',
  code: 'LIMIT_TOKENS',
  version: '1',
  kind: 'budget',
  defaults: { threshold: 100_000, window_size: 0 },
  unit: 'tokens',
  params: Type.Object(
    {
      reserve: Type.Optional(Type.Boolean({ description: 'Tokens of requests under way count, by estimate' })),
      scope: Type.Optional(
        Type.Union([Type.Literal('session'), Type.Literal('thread')], {
          description: 'What is counted together: the session, or one conversation of it',
        }),
      ),
    },
    { additionalProperties: false },
  ),

  detect({ rule, session }): Finding | undefined {
    const reserved = rule.params?.reserve === true ? session.reserved : 0
    const count = session.tokens + reserved
    if (count < rule.threshold) return undefined
    const held = reserved === 0 ? '' : `, ${reserved} of them held by requests under way`
    return {
      message: `the ${rule.params?.scope ?? 'session'} has used ${count} of ${rule.threshold} tokens${held}`,
      evidence: 'budget',
      count,
    }
  },
})
