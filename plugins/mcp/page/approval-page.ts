import { faultList, html } from 'guard-gateway/lib/html'
import type { Page } from 'guard-gateway/lib/page'
import { approvalById, textsById } from '../approvals/index.ts'
import { wordOf } from './answered-approvals.ts'
import { questionCard } from './approval-card.ts'
import type { PageParts } from './index.ts'
import { undoButton } from './notice.ts'

/** One question with its arguments to the end, however long they are. Throws APPROVAL_NOT_FOUND. */
export const approvalPage = ({ mcp, approver }: PageParts): Page => ({
  id: 'mcp/approval',
  path: '/approvals/:id',
  render: async (ask) => {
    const row = await approvalById(mcp.gateway, mcp.approvals, ask.params.id ?? '')
    const shown = await textsById(mcp.gateway, row)
    const main = html`<div data-live="${row.trace_id}"><div class="head"><h1>Approval</h1><p>${wordOf(row)}</p>${row.status === 'allowed' && undoButton(row, ask.url)}<p class="acts"><a href="/mcp">All that waits</a></p></div>
${faultList(ask.refused?.faults ?? [])}
${questionCard(ask, row, shown, approver)}</div>`
    return { title: `${row.tool} · MCP`, main }
  },
})
