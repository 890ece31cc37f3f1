import {
  type Approver,
  type Ask,
  approverField,
  type Html,
  html,
  instantMark,
  isShape,
  pageUrl,
  readJson,
} from 'guard-gateway/core'
import { type ApprovalRow, shownAs } from '../approvals/index.ts'
import type { Mcp } from '../mcp.ts'
import type { PageParts } from './index.ts'
import { findingList, shortHash, spanLink } from './shown.ts'

/** A look costs the same however many ask. */
const MOST_COUNTED = 500
const MOST_SHOWN = 50

/** What waits for a person by now, that which expires first before the others. */
export const pendingApprovals = async ({ gateway, approvals }: Mcp): Promise<readonly ApprovalRow[]> => {
  const { rows } = await gateway.storage.find('mcp_approvals', {
    where: { status: 'pending' },
    order: ['expires_at', 'asc'],
    limit: MOST_COUNTED,
  })
  return rows.filter((row) => shownAs(approvals, row).status === 'pending')
}

/** The questions that wait, each with what would be done and the buttons that answer it. */
export const pendingSection = ({ approver }: PageParts, ask: Ask, waiting: readonly ApprovalRow[]): Html =>
  html`<h2 id="approvals">Pending approvals${waiting.length > 0 && html` (${waiting.length})`}</h2>
${waiting.length === 0 ? html`<p class="quiet">Nothing waits for a person.</p>` : html`${waiting.slice(0, MOST_SHOWN).map((row) => question(ask, row, approver))}`}
${waiting.length > MOST_SHOWN && html`<p class="quiet">The ${MOST_SHOWN} that expire first; the others follow as these are answered.</p>`}
${!approver.needsKey && waiting.length > 0 && html`<p class="quiet">Any process on this machine can approve, an agent included. Set <code>mcp.approver_key</code> to ask for a key.</p>`}`

const question = (ask: Ask, row: ApprovalRow, approver: Approver): Html => {
  const { id, tool, server_id, session_id, client, created_at, expires_at, rule_ids, message, findings } = row
  return html`<article class="question" id="approval-${id}" data-row data-expires data-gone="answered elsewhere" aria-labelledby="title-${id}">
<div class="head"><h3 id="title-${id}">${tool} <span class="quiet">on</span> ${server_id}</h3><p>expires in <span data-until="${new Date(expires_at).toISOString()}">${leftText(expires_at - ask.now)}</span></p><p class="quiet">asked ${instantMark(created_at, ask.now)}${client !== null && html` by ${client.name}`} · ${rule_ids.length === 0 ? 'policy default' : html`rule ${rule_ids.join(', ')}`}</p><p class="acts">${spanLink(row.trace_id, row.span_id, 'Replay')}</p></div>
${message !== null && html`<p>${message}</p>`}
${previewTable(row.preview, 'Arguments')}
${row.sent_preview !== null && previewTable(row.sent_preview, 'As they would be sent')}
${findingList(findings)}
<p class="quiet">Arguments ${shortHash(row.argument_hash)}${row.tool_fingerprint !== null && html` · definition ${shortHash(row.tool_fingerprint)}`} · <a href="${pageUrl('/mcp', { session_id })}#decisions">decisions of its session</a></p>
${answers(ask, id, approver)}
</article>
`
}

const leftText = (ms: number): string => {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** The members of the arguments, one a line; what is not an object as it stands. */
const previewTable = (preview: string | null, label: string): Html => {
  if (preview === null) return html`<p class="quiet">${label}: no longer kept.</p>`
  const args = parsed(preview)
  if (args === undefined) return longText(label, preview)
  const members = Object.entries(args)
  if (members.length === 0) return html`<p class="quiet">${label}: none.</p>`
  return html`<table class="attributes"><caption>${label} <span class="quiet">redacted and shortened</span></caption><tbody>${members.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${valueText(name, value)}</td></tr>`,
  )}</tbody></table>`
}

const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = readJson(text)
    return isShape(value) ? value : undefined
  } catch {
    return undefined
  }
}

const LONG_CHARS = 120

const valueText = (name: string, value: unknown): Html => {
  const text =
    typeof value === 'string'
      ? value
      : JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part))
  return text.length <= LONG_CHARS && !text.includes('\n') ? html`<code>${text}</code>` : longText(name, text)
}

/** A text that scrolls in its place, by keys too, so that the buttons below it stay near. */
const longText = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="group" aria-label="${label}">${text}</pre>`

/** What Enter in a field presses: who says why a call is denied must not allow it. */
const pressesNothing = html`<button hidden disabled></button>`

const answers = ({ refused, url }: Ask, id: string, approver: Approver): Html => {
  const again = refused?.form === 'mcp/approval' && refused.fields.get('approval') === id ? refused : undefined
  return html`<form class="filters" method="post" action="/ui/approvals/${id}"><input type="hidden" name="approval" value="${id}"><input type="hidden" name="return_to" value="${url}">${pressesNothing}
<label>Reason<input name="reason" size="28" placeholder="may be left out" value="${again?.fields.get('reason')}"></label>
${approverField(approver, again?.faults)}
<button class="main" name="action" value="allow">Allow once</button> <button name="action" value="allow:session">Allow for the session</button> <button class="grave" name="action" value="deny">Deny this call</button></form>`
}
