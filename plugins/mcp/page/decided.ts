import { type Ask, type Html, html, instantMark } from 'guard-gateway/core'
import { type ApprovalRow, shownAs } from '../approvals/index.ts'
import type { Mcp } from '../mcp.ts'
import { undoButton } from './notice.ts'
import { spanLink } from './shown.ts'

const LOOKED_AT = 30
const MOST_SHOWN = 10

const words: Readonly<Record<string, readonly [kind: string, word: string]>> = {
  allowed: ['ok', 'allowed, waits for the retry'],
  consumed: ['ok', 'allowed and used'],
  denied: ['error', 'denied'],
  expired: ['quiet', 'expired'],
}

/** What a page that still shows the question says of it. */
const ends: Readonly<Record<string, string>> = {
  allowed: 'allowed elsewhere',
  consumed: 'allowed elsewhere',
  denied: 'denied elsewhere',
}

/** The questions that were answered last, or that nobody answered in time. */
export const decidedSection = async ({ gateway, approvals }: Mcp, ask: Ask): Promise<Html> => {
  const { rows } = await gateway.storage.find('mcp_approvals', { limit: LOOKED_AT })
  const over = rows.map((row) => shownAs(approvals, row)).filter(({ status }) => status !== 'pending')
  if (over.length === 0) return html``
  return html`<details id="decided"><summary>Answered lately (${Math.min(over.length, MOST_SHOWN)})</summary>
<table class="list rows stacks"><thead><tr><th scope="col">Asked</th><th scope="col">Answer</th><th scope="col">Tool</th><th scope="col">Server</th><th scope="col" class="free">Reason</th><th scope="col">Through</th><th scope="col">Replay</th></tr></thead><tbody>
${over.slice(0, MOST_SHOWN).map((row) => decidedRow(ask, row))}</tbody></table></details>`
}

/** How an approval stands, in a word. */
export const wordOf = ({ status }: ApprovalRow): Html => {
  const [kind, word] = words[status] ?? ['quiet', status]
  return html`<span class="${kind}">${word}</span>`
}

const decidedRow = ({ now, url }: Ask, row: ApprovalRow): Html => {
  const { id, status, scope, tool, server_id, created_at, reason, decided_via, trace_id, span_id } = row
  return html`<tr id="decided-${id}" data-ends="approval-${id}" data-end="${ends[status] ?? status}"><td>${instantMark(created_at, now)}</td><td>${wordOf(row)}${scope === 'session' && ' for the session'}${status === 'allowed' && html` ${undoButton(row, url)}`}</td><td>${tool}</td><td>${server_id}</td><td>${reason}</td><td>${decided_via}</td><td>${spanLink(trace_id, span_id, 'Show')}</td></tr>
`
}
