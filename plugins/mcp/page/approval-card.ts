import type { Approver } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { type Html, html, instantMark, pageUrl } from '#lib/html'
import { isJsonObject, readJson } from '#lib/json'
import type { Ask } from '#lib/page'
import type { ApprovalRow } from '../approvals/index.ts'
import type { ToolDescription } from '../tools/tool-description.ts'
import { findingList, shortHash, spanLink } from './marks.ts'

/** Arguments of a call as the page shows them, as JSON; null once they are not kept any more. */
export interface DisplayedArguments {
  readonly arguments: string | null
  readonly sent_arguments: string | null
  /** Characters of all of it where the middle is left out. */
  readonly left_out?: number
}

/** One question as a card: what would be done, what is known of the tool, and the buttons that answer it while it waits. */
export const questionCard = (ask: Ask, row: ApprovalRow, displayed: DisplayedArguments, approver: Approver): Html => {
  const { id, tool, server_id, session_id, client, created_at, expires_at, rule_ids, message, findings } = row
  return html`<article class="question" id="approval-${id}" data-row data-expires data-gone="answered elsewhere" aria-labelledby="title-${id}">
<div class="head"><h3 id="title-${id}">${tool} <span class="quiet">on</span> ${server_id}</h3>${row.status === 'pending' && html`<p>expires in <span data-until="${new Date(expires_at).toISOString()}">${leftText(expires_at - ask.now)}</span></p>`}<p class="quiet">asked ${instantMark(created_at, ask.now)}${client !== null && html` by ${client.name}`} · ${rule_ids.length === 0 ? 'policy default' : html`rule ${rule_ids.join(', ')}`}</p><p class="acts">${spanLink(row.trace_id, row.span_id, 'Replay')}</p></div>
${message !== null && html`<p>${message}</p>`}
${quotedDescription(row.tool_says)}
${argumentTable(displayed.arguments, 'Arguments')}
${displayed.sent_arguments !== null && argumentTable(displayed.sent_arguments, 'As they would be sent')}
${displayed.left_out !== undefined && html`<p class="warning">Not all of the ${displayed.left_out} characters is shown here. <a href="${approvalUrl(id)}">Read all of it</a></p>`}
${findingList(findings)}
<p class="quiet">Arguments ${shortHash(row.argument_hash)}${row.tool_fingerprint !== null && html` · definition ${shortHash(row.tool_fingerprint)}`} · <a href="${pageUrl('/mcp', { session_id })}#decisions">decisions of its session</a>${displayed.arguments !== null && html` · <a href="${approvalUrl(id)}/rule">Make a rule of this</a>`}</p>
${row.status === 'pending' && answers(ask, row, approver, displayed)}
</article>
`
}

/** Where one approval is with its arguments to the end. */
export const approvalUrl = (id: string): string => `/approvals/${encodeURIComponent(id)}`

/** Time that is left, in minutes and seconds. */
export const leftText = (ms: number): string => {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

const serverQuote = 'The server says of its tool, unchecked'

/** The server's own words about its tool, marked as such. */
const quotedDescription = (says: ToolDescription | null): Html => {
  if (says === null) return html``
  const { title, description, annotations } = says
  const hints = Object.entries(annotations).map(([name, value]) => html` <code>${name}: ${String(value)}</code>`)
  if (title === null && description === null && hints.length === 0) return html``
  const isLong = description !== null && isBlock(description)
  return html`<p><span class="quiet">${serverQuote}:</span>${title !== null && html` <q>${title}</q>`}${description !== null && !isLong && html` <q>${description}</q>`}${hints}</p>${isLong && longText(serverQuote, description)}`
}

/** The members of the arguments, one a line; what is not an object as it is. */
const argumentTable = (json: string | null, label: string): Html => {
  if (json === null) return html`<p class="quiet">${label}: no longer kept.</p>`
  const args = parsed(json)
  if (args === undefined) return longText(label, json)
  const members = Object.entries(args)
  if (members.length === 0) return html`<p class="quiet">${label}: none.</p>`
  return html`<table class="attributes"><caption>${label} <span class="quiet">redacted</span></caption><tbody>${members.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${valueText(name, value)}</td></tr>`,
  )}</tbody></table>`
}

const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = readJson(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const LONG_CHARS = 120
/** What is shortened is no longer than this. */
const COUNTED_CHARS = 600

const isBlock = (text: string): boolean => text.length > LONG_CHARS || text.includes('\n')

const valueText = (name: string, value: unknown): Html => {
  const text =
    typeof value === 'string'
      ? value
      : JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part))
  if (!isBlock(text)) return html`<code>${text}</code>`
  return html`${longText(name, text)}${text.length > COUNTED_CHARS && html`<span class="quiet">(${text.length} characters)</span>`}`
}

/** A text that scrolls in its place, by keys too, so that the buttons below it stay near. */
const longText = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="group" aria-label="${label}">${text}</pre>`

/** What Enter in a field presses: who says why a call is denied must not allow it. */
const hasNoButtons = html`<button hidden disabled></button>`

/** The form that answers; it names what is shown. What is not shown to its end cannot be allowed from here. */
const answers = ({ refused, url }: Ask, row: ApprovalRow, approver: Approver, displayed: DisplayedArguments): Html => {
  const { id, tool, argument_hash } = row
  const again = refused?.form === 'mcp/approval' && refused.fields.get('approval') === id ? refused : undefined
  const back = url.startsWith(approvalUrl(id)) ? '/mcp' : url
  return html`<form class="filters" method="post" action="/ui/approvals/${id}"><input type="hidden" name="approval" value="${id}"><input type="hidden" name="tool" value="${tool}"><input type="hidden" name="argument_hash" value="${argument_hash}"><input type="hidden" name="return_to" value="${back}">${hasNoButtons}
<label>Reason<input name="reason" size="34" maxlength="500" placeholder="the agent reads why it is denied" value="${again?.fields.get('reason')}"></label>
${approverField(approver, again?.faults)}
${allowPart(id, displayed)} <button class="grave" name="action" value="deny">Deny this call</button></form>`
}

const allowPart = (id: string, displayed: DisplayedArguments): Html => {
  const { left_out } = displayed
  if (left_out !== undefined) return html`<a class="button" href="${approvalUrl(id)}">Read all of it to allow it</a>`
  if (isHidden(displayed))
    return html`<span class="warning">Part of it is too long to be looked through for secrets and cannot be shown, so it is not allowed from here.</span>`
  return html`<button class="main" name="action" value="allow">Allow once</button> <button name="action" value="allow:session">Allow for the session</button>`
}

/** Some of the arguments cannot be shown here. */
export const isHidden = ({ arguments: args, sent_arguments }: DisplayedArguments): boolean =>
  [args, sent_arguments].some((text) => text !== null && HIDDEN.test(text))

/** The placeholder of a value that cannot be shown here, however harmless it is. */
const HIDDEN = /\[REDACTED:(?:limit|fault)\]/
