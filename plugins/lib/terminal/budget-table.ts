import { type BudgetLeft, remainingShare, remainingText } from 'guard-gateway/lib/budget'
import { countMark, type Html, html, instantMark, priceMark } from 'guard-gateway/lib/html'

/** So much of a budget must be used that it counts as nearly used up. */
const NEAR = 0.8

/** Budgets as a table: whose each is, what is left of it, and when it starts over. `now`: milliseconds since 1970. */
export const budgetTable = (budgets: readonly BudgetLeft[], now: number): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Budget of</th><th scope="col">Rule</th><th scope="col">Used</th><th scope="col">Left</th><th scope="col">Begins anew</th></tr></thead><tbody>
${budgets.map((budget) => budgetRow(budget, now))}</tbody></table>
${zoneText(budgets)}`

const zoneText = (budgets: readonly BudgetLeft[]): Html => {
  const zone = budgets.find(({ time_zone }) => time_zone !== null)?.time_zone
  return html`${zone !== undefined && html`<p class="quiet">Days and other periods are those of ${zone}.</p>`}`
}

const budgetRow = (budget: BudgetLeft, now: number): Html => {
  const { project_id, rule_id, limit, used, resets_at, action } = budget
  const text = remainingText(budget)
  const rule = `/policies/${encodeURIComponent(project_id)}#rule-${rule_id}`
  const colour = remainingShare(budget) === 0 ? 'error' : remainingShare(budget) <= 1 - NEAR ? 'warning' : ''
  return html`<tr data-row><th scope="row">${ownerText(budget)}</th><td><a href="${rule}">${rule_id}</a> <span class="quiet">${action}</span></td>
<td><span class="status">${amountOf(budget, used)} <span class="quiet">of ${amountOf(budget, limit)}${unitText(budget)}</span> <meter max="${limit}" high="${limit * NEAR}" optimum="0" value="${Math.min(used, limit)}" aria-label="used of ${rule_id}"></meter></span></td>
<td><span class="${colour}">${text}</span></td><td>${resets_at !== null && instantMark(Date.parse(resets_at), now)}</td></tr>
`
}

const ownerText = ({ scope, project_id, agent_id, session_id }: BudgetLeft): Html => {
  if (scope === 'project') return html`project ${project_id}`
  if (scope !== 'agent') return html`${scope === 'thread' ? 'conversation of the session' : 'session'} ${session_id}`
  return agent_id === null
    ? html`requests without an agent <span class="quiet">in ${project_id}</span>`
    : html`agent ${agent_id} <span class="quiet">in ${project_id}</span>`
}

const amountOf = ({ unit }: BudgetLeft, amount: number): Html =>
  unit === 'cost_micro' ? priceMark(amount) : countMark(amount)

const unitText = ({ unit, currency }: BudgetLeft): string => ` ${unit === 'cost_micro' ? (currency ?? 'cost') : unit}`
