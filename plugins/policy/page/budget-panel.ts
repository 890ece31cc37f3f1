import { byRemainingShare, remainingShare } from 'guard-gateway/lib/budget'
import { html } from 'guard-gateway/lib/html'
import type { Panel } from 'guard-gateway/lib/page'
import { budgetTable } from 'guard-gateway/lib/terminal'
import { remainingOfAll } from '../budgets/projects.ts'
import type { RemainingContext } from '../budgets/remaining.ts'

const MAX_ROWS = 5
/** Below this share a budget is worth a look. */
const LOW = 0.5

/** The budgets of projects and agents of which the least is left. */
export const budgetPanel = (parts: RemainingContext): Panel => ({
  id: 'policy/budgets',
  order: 35,
  render: async ({ now }) => {
    const low = byRemainingShare(await remainingOfAll(parts)).filter((budget) => remainingShare(budget) < LOW)
    if (low.length === 0) return undefined
    return html`<h2>Budgets of which the least is left</h2>
${budgetTable(low.slice(0, MAX_ROWS), now)}
${low.length > MAX_ROWS && html`<p class="quiet">${low.length - MAX_ROWS} more have less than half left.</p>`}`
  },
})
