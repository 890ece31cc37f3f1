import { type Html, html, instantMark } from '#lib/html'
import type { Ask } from '#lib/page'
import { type ApprovalRow, approvalStates, currentState } from '../approvals/index.ts'
import type { Mcp } from '../mcp.ts'
import { spanLink } from './marks.ts'
import { undoButton } from './notice.ts'

/** The cost of a view does not grow with the number of approvals. */
const MAX_ALLOWED = 50
const MAX_ENDED = 10

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

/** Allowed calls, which can be revoked, and the approvals that were decided or expired last. */
export const decidedSection = async (mcp: Mcp, ask: Ask): Promise<Html> => {
  const found = await Promise.all(
    approvalStates.map((status) => rowsOf(mcp, status, status === 'allowed' ? MAX_ALLOWED : MAX_ENDED)),
  )
  const latest = found.flat().sort((one, other) => endOf(other) - endOf(one))
  const allowed = latest.filter(({ status }) => status === 'allowed')
  const over = latest.filter(({ status }) => status !== 'allowed' && status !== 'pending').slice(0, MAX_ENDED)
  const rows = [...allowed, ...over]
  if (rows.length === 0) return html``
  return html`<details id="decided"><summary>Answered lately (${rows.length}${allowed.length > 0 && html`, of which ${allowed.length} can be taken back`})</summary>
<table class="list rows stacks"><thead><tr><th scope="col">Asked</th><th scope="col">Answer</th><th scope="col">Tool</th><th scope="col">Server</th><th scope="col" class="free">Reason</th><th scope="col">Through</th><th scope="col">Replay</th></tr></thead><tbody>
${rows.map((row) => decidedRow(ask, row))}</tbody></table></details>`
}

/** Approvals of a status as they stand by now. */
const rowsOf = async ({ gateway, approvals }: Mcp, status: ApprovalRow['status'], limit: number) => {
  // of those that wait, the ones whose time has run out come first
  const order = ['expires_at', status === 'pending' ? 'asc' : 'desc'] as const
  const { rows } = await gateway.storage.find('mcp_approvals', { where: { status }, order, limit })
  return rows.map((row) => currentState(approvals, row))
}

const endOf = ({ decided_at, expires_at }: ApprovalRow): number => decided_at ?? expires_at

/** The status of an approval in one word. */
export const wordOf = ({ status }: ApprovalRow): Html => {
  const [kind, word] = words[status] ?? ['quiet', status]
  return html`<span class="${kind}">${word}</span>`
}

const decidedRow = ({ now, url }: Ask, row: ApprovalRow): Html => {
  const { id, status, scope, tool, server_id, created_at, reason, decided_via, trace_id, span_id } = row
  return html`<tr id="decided-${id}" data-ends="approval-${id}" data-end="${ends[status] ?? status}"><td>${instantMark(created_at, now)}</td><td>${wordOf(row)}${scope === 'session' && ' for the session'}${status === 'allowed' && html` ${undoButton(row, url)}`}</td><td>${tool}</td><td>${server_id}</td><td>${reason}</td><td>${decided_via}</td><td>${spanLink(trace_id, span_id, 'Show')}</td></tr>
`
}
