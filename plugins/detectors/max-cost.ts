import { detector, type Finding, type Totals } from 'guard-gateway/core'
import { Type } from 'typebox'

/** One unit of the billing currency. */
const UNIT = 1_000_000

/** The session has cost its amount, in millionths of the billing currency; what has no price counts nothing. */
export const maxCost = detector({
  id: 'max_cost',
  code: 'LIMIT_COST',
  version: '1',
  kind: 'budget',
  needs: 'prices',
  defaults: { threshold: 5 * UNIT, window_size: 0 },
  unit: 'millionths of the currency',
  params: Type.Object(
    {
      reserve: Type.Optional(
        Type.Boolean({ description: 'Requests under way count, at what a token of the session has cost so far' }),
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
    const { unpriced } = session
    const held = rule.params?.reserve === true ? heldBy(session) : 0
    const count = session.cost_micro + held
    if (count < rule.threshold) return undefined
    const under = held === 0 ? '' : `, ${amount(held)} of it held by requests under way`
    const more = unpriced === 0 ? '' : `; ${unpriced} request${unpriced === 1 ? '' : 's'} without a price not counted`
    return {
      message: `the ${rule.params?.scope ?? 'session'} has cost ${amount(count)} of ${amount(rule.threshold)}${under}${more}`,
      evidence: 'budget',
      count,
    }
  },
})

/** Nothing as long as the session has paid for nothing. */
const heldBy = ({ reserved, tokens, cost_micro }: Totals): number =>
  tokens === 0 ? 0 : Math.round((reserved * cost_micro) / tokens)

const amount = (micro: number): string => (micro / UNIT).toFixed(micro < UNIT / 100 ? 6 : 2)
