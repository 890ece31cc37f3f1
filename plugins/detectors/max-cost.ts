import { detector, type Finding, type Totals } from 'guard-gateway/core'
import { budgetParams, optionalFlag, ruleParams } from 'guard-gateway/lib/detection'
import { budgetFault, budgetFinding, budgetPhrases } from '#lib/budget'

/** One unit of the billing currency. */
const UNIT = 1_000_000

/** The session, or the agent or the project in a stretch of the calendar, has cost its amount, in millionths of the billing currency; what has no price counts nothing. */
export const maxCost = detector({
  id: 'max_cost',
  code: 'LIMIT_COST',
  summary: 'A budget of money is used up',
  version: '1',
  kind: 'budget',
  needs: 'prices',
  defaults: { threshold: 5 * UNIT, window_size: 0 },
  unit: 'millionths of the currency',
  params: ruleParams({
    reserve: optionalFlag('Requests under way count, at what a token of the session has cost so far'),
    ...budgetParams,
  }),

  faultIn: budgetFault,

  used: ({ rule, session }) => session.cost_micro + heldBy(rule.params, session),

  detect({ rule, session }): Finding | undefined {
    const { unpriced } = session
    const held = heldBy(rule.params, session)
    const count = session.cost_micro + held
    if (count < rule.threshold) return undefined
    const under = held === 0 ? '' : `, ${amount(held)} of it held by requests under way`
    const more = unpriced === 0 ? '' : `; ${unpriced} request${unpriced === 1 ? '' : 's'} without a price not counted`
    const { who, when, next } = budgetPhrases(rule.params, session)
    return {
      message: `${who} has cost ${amount(count)} of ${amount(rule.threshold)}${when}${under}${more}${next}`,
      ...budgetFinding(session),
      count,
    }
  },
})

/** Nothing as long as the session has paid for nothing. */
const heldBy = (
  params: { readonly reserve?: boolean } | undefined,
  { reserved, tokens, cost_micro }: Totals,
): number => (params?.reserve !== true || tokens === 0 ? 0 : Math.round((reserved * cost_micro) / tokens))

const amount = (micro: number): string => (micro / UNIT).toFixed(micro < UNIT / 100 ? 6 : 2)
