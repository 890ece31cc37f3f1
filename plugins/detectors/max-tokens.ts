import { detector, type Finding, type Totals } from 'guard-gateway/core'
import { budgetParams, optionalFlag, ruleParams } from 'guard-gateway/lib/detection'
import { Type } from 'guard-gateway/lib/json'
import { budgetFault, budgetFinding, budgetPhrases } from '#lib/budget'

/** The session, or the agent or the project in a stretch of the calendar, has had its number of recorded tokens. */
export const maxTokens = detector({
  id: 'max_tokens',
  code: 'LIMIT_TOKENS',
  summary: 'A budget of tokens is used up',
  version: '1',
  kind: 'budget',
  defaults: { threshold: 100_000, window_size: 0 },
  unit: 'tokens',
  params: ruleParams({
    reserve: optionalFlag('Tokens of requests under way count, by estimate'),
    ...budgetParams,
    cache_weight: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'How much a token counts that was read from the provider’s cache: 0.1 for a tenth; 1 unless set',
      }),
    ),
  }),

  faultIn: budgetFault,

  used: ({ rule, session }) => weighed(session, rule.params?.cache_weight) + heldBy(rule.params, session),

  detect({ rule, session }): Finding | undefined {
    const reserved = heldBy(rule.params, session)
    const count = weighed(session, rule.params?.cache_weight) + reserved
    if (count < rule.threshold) return undefined
    const held = reserved === 0 ? '' : `, ${reserved} of them held by requests under way`
    const { who, when, next } = budgetPhrases(rule.params, session)
    return {
      message: `${who} has used ${count} of ${rule.threshold} tokens${when}${held}${next}`,
      ...budgetFinding(session),
      count,
    }
  },
})

/** Tokens, those read from a cache by their weight. */
const weighed = ({ tokens, cache_read_tokens = 0 }: Totals, weight = 1): number =>
  weight === 1 ? tokens : Math.round(tokens - cache_read_tokens * (1 - weight))

const heldBy = (params: { readonly reserve?: boolean } | undefined, { reserved }: Totals): number =>
  params?.reserve === true ? reserved : 0
