import { html } from 'guard-gateway/lib/html'
import type { Panel } from 'guard-gateway/lib/page'
import { sessionsSince } from '../queries.ts'
import { budgetsOf } from './budgets.ts'
import { pauseForm } from './buttons.ts'
import type { PageParts } from './index.ts'
import { sessionTable } from './list.ts'

const RECENT_MS = 15 * 60_000
const MAX_ROWS = 10

/** The sessions that are at work, each with what it used of its budget and the button that stops it. */
export const recentPanel = ({ gateway, live }: PageParts): Panel => ({
  id: 'sessions/lately',
  order: 30,
  render: async (ask) => {
    const active = await sessionsSince(gateway, live, ask.now - RECENT_MS)
    if (active.rows.length === 0) return undefined
    const rows = active.rows.slice(0, MAX_ROWS)
    const budgets = await budgetsOf(
      gateway,
      rows.map(({ project_id }) => project_id),
    )
    return html`<h2>Sessions of the last 15 minutes (${active.rows.length}${active.more && ' or more'})</h2>${pauseForm(gateway, ask)}
${sessionTable(gateway, ask, rows, budgets)}
${active.rows.length > MAX_ROWS && html`<p><a href="/sessions">All sessions</a></p>`}`
  },
})
