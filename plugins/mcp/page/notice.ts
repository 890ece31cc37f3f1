import { type Html, html, instantMark } from '#lib/html'
import type { Ask } from '#lib/page'
import { type ApprovalRow, approvalById } from '../approvals/index.ts'
import type { Mcp } from '../mcp.ts'
import { shortHash } from './marks.ts'

/** What was answered, by name and as it is by now; what is allowed and unused with the button that takes it back. */
export const answeredNotice = async (
  { gateway, approvals }: Mcp,
  id: string,
  { url, now }: Pick<Ask, 'url' | 'now'>,
): Promise<Html | undefined> => {
  const row = await approvalById(gateway, approvals, id).catch(() => undefined)
  if (row === undefined) return undefined
  return html`<div class="notice" role="status">${sentence(row, now)}${row.status === 'allowed' && html` ${undoButton(row, url)}`}</div>`
}

/** The button that takes an allowance back. */
export const undoButton = ({ id, tool }: ApprovalRow, return_to: string): Html =>
  html`<form class="inline" method="post" action="/ui/approvals/${id}/undo"><input type="hidden" name="return_to" value="${return_to}"><button aria-label="Undo: allow ${tool} no more">Undo</button></form>`

const sentence = (row: ApprovalRow, now: number): Html => {
  const { tool, server_id, argument_hash, scope, session_id, status, used_count, reason, consumed_at } = row
  const call = html`<strong>${tool}</strong> of server ${server_id}, arguments ${shortHash(argument_hash)}`
  const whom = html`for session <code>${session_id.slice(0, SESSION_CHARS)}…</code>`
  switch (status) {
    case 'pending':
      return html`Taken back: ${call} waits for an answer again.`
    case 'denied':
      return html`Denied ${call}. The agent is told when it repeats the call${reason !== null && html`, and why: <q>${reason}</q>`}.`
    case 'consumed':
      return html`Allowed ${call}, once ${whom}. The agent used it${consumed_at !== null && html` at ${instantMark(consumed_at, now)}`}: that cannot be taken back.`
    case 'expired':
      return html`No longer allowed: ${call} (${reason}). A further call asks anew.`
    case 'allowed':
      return html`Allowed ${call}, ${scope === 'session' ? 'as often as it comes' : 'once'} ${whom}. ${used_count === 0 ? 'The agent may repeat the call.' : `Used ${used_count} times so far.`}`
  }
}

const SESSION_CHARS = 12
