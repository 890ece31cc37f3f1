import { html, type Panel } from 'guard-gateway/core'
import { judgedActions } from '../audit/words.ts'
import { auditTable } from './decisions.ts'
import type { PageParts } from './index.ts'
import { pendingApprovals, pendingSection } from './pending.ts'

const DAY_MS = 86_400_000
const MOST_REFUSED = 5

/** The calls of tools that wait for a person, with the buttons that answer them; before everything else. */
export const approvalsPanel = (parts: PageParts): Panel => ({
  id: 'mcp/approvals',
  order: 0,
  render: async (ask) => {
    const waiting = await pendingApprovals(parts.mcp)
    return waiting.length === 0 ? undefined : pendingSection(parts, ask, waiting)
  },
})

/** The calls of tools that were not simply allowed in the last day. */
export const refusedPanel = ({ mcp }: PageParts): Panel => ({
  id: 'mcp/refused',
  order: 45,
  render: async (ask) => {
    const { rows, next_cursor } = await mcp.gateway.storage.find('mcp_audit', {
      where: {
        kind: 'decision',
        action: { in: judgedActions.filter((action) => action !== 'allow') },
        at: { gte: ask.now - DAY_MS },
      },
      order: ['at', 'desc'],
      limit: MOST_REFUSED,
    })
    if (rows.length === 0) return undefined
    return html`<h2>Tool calls not simply allowed in the last 24 hours</h2>
${auditTable(ask, rows)}
${next_cursor !== null && html`<p><a href="/mcp#decisions">All decisions about tool calls</a></p>`}`
  },
})
