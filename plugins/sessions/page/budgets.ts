import type { Gateway, Rule, SessionRow } from 'guard-gateway/core'
import { countMark, type Html, html } from '#lib/html'

/** What the rules of a project let a session use; undefined where no enabled rule says. */
export interface Budgets {
  readonly requests: Budget | undefined
  readonly tokens: Budget | undefined
}

interface Budget {
  readonly rule_id: string
  readonly most: number
  /** How much a token counts that was read from a cache. */
  readonly cache_weight: number
}

/** The budgets of these projects, by project. */
export const budgetsOf = async (
  gateway: Gateway,
  rows: readonly { readonly project_id: string }[],
): Promise<ReadonlyMap<string, Budgets>> => {
  const rulesInForce = gateway.service('rules').get()
  if (rulesInForce === undefined) return new Map()
  const reads = [...new Set(rows.map(({ project_id }) => project_id))].map(
    async (project): Promise<[string, Budgets]> => {
      const rules = (await rulesInForce.of(project)).rules.filter((rule) => rule.enabled && isOfSession(rule))
      const least = (type: string): Budget | undefined => {
        const [first] = rules
          .filter(({ rule_type }) => rule_type === type)
          .sort((one, other) => one.threshold - other.threshold)
        if (first === undefined) return undefined
        const weight = first.params?.cache_weight
        return { rule_id: first.id, most: first.threshold, cache_weight: typeof weight === 'number' ? weight : 1 }
      }
      return [project, { requests: least('max_requests'), tokens: least('max_tokens') }]
    },
  )
  return new Map(await Promise.all(reads))
}

/** One that the session has for itself: not one of a conversation, of its agent or its project. */
const isOfSession = ({ params }: Rule): boolean => (params?.scope ?? 'session') === 'session'

/** The tokens that a session has used of a budget. */
export const tokensUsed = ({ total_tokens, cache_read_tokens }: SessionRow, budget: Budget | undefined): number =>
  Math.round(total_tokens - cache_read_tokens * (1 - (budget?.cache_weight ?? 1)))

const NEAR = 0.8

/** How much is used, and of how much. `raise`: beside a budget that is nearly used up is the way to its rule. */
export const budgetMark = (
  { project_id }: Pick<SessionRow, 'project_id'>,
  unit: string,
  used: number,
  budget: Budget | undefined,
  raise = false,
): Html => {
  if (budget === undefined) return html`${countMark(used)}<span class="unit"> ${unit.toLowerCase()}</span>`
  const { most, rule_id } = budget
  const near = used >= most * NEAR
  return html`<span class="status">${countMark(used)} <span class="quiet">of ${countMark(most)}</span> <meter max="${most}" high="${most * NEAR}" optimum="0" value="${Math.min(used, most)}" aria-label="${unit} used"></meter></span>${
    raise && near && html` <a href="/policies/${encodeURIComponent(project_id)}#rule-${rule_id}">Change this budget</a>`
  }`
}
