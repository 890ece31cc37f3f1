import type { Approver } from 'guard-gateway/core'
import { type Html, html } from '#lib/html'
import { isJsonObject, readJson } from '#lib/json'
import type { Ask, WaitingSource } from '#lib/page'
import type { ApprovalRow } from '../approvals/index.ts'
import { approvalUrl, type DisplayedArguments, isHidden, leftText } from './approval-card.ts'
import { pendingApprovals } from './pending-approvals.ts'
import type { PageParts } from './types.ts'

const MAX_LINES = 10

/** The calls of tools that wait for a person, a line each; the one that expires first before the others. */
export const approvalSource = ({ mcp, approver }: PageParts): WaitingSource => ({
  id: 'mcp/approvals',
  order: 10,
  waiting: async (ask) => {
    const waiting = await pendingApprovals(mcp)
    if (waiting.length === 0) return { lines: [], total: 0 }
    const rest = waiting.length - MAX_LINES
    return {
      lines: waiting.slice(0, MAX_LINES).map((row) => approvalLine(ask, row, approver)),
      total: waiting.length,
      note: html`${rest > 0 && html`<a href="/mcp#approvals">${rest} more calls wait</a>. `}${!approver.needsKey && html`Any process on this machine can approve, an agent included. Set <code>mcp.approver_key</code> to ask for a key.`}`,
    }
  },
})

const approvalLine = ({ now, url }: Ask, row: ApprovalRow, approver: Approver): Html => {
  const { id, tool, server_id, message, findings, expires_at } = row
  const displayed: DisplayedArguments = {
    arguments: row.preview,
    sent_arguments: row.sent_preview,
    ...(row.argument_chars === null ? {} : { left_out: row.argument_chars }),
  }
  const summary = summaryOf(displayed.arguments)
  const [finding] = findings ?? []
  const mayAllow =
    summary.isWhole && displayed.sent_arguments === null && displayed.left_out === undefined && !isHidden(displayed)
  return html`<li class="need" id="approval-${id}" data-row data-expires data-gone="answered elsewhere"><span class="status warning"><span aria-hidden="true">?</span> approve</span>
<span class="who"><strong>${tool}</strong> <span class="quiet">on ${server_id}</span></span>
<span class="why">${summary.markup}${finding !== undefined && html` <span class="warning">· ${finding.check}: ${finding.reason}</span>`}${message !== null && html` <span class="quiet">· ${message}</span>`} <span class="quiet">· expires in <span data-until="${new Date(expires_at).toISOString()}">${leftText(expires_at - now)}</span></span></span>
<span class="acts">${!approver.needsKey && answers(row, url, mayAllow)}<a class="button" href="${approvalUrl(id)}" aria-label="Open: ${tool} on ${server_id}">${mayAllow && !approver.needsKey ? 'Open' : 'Open to allow'}</a></span></li>`
}

/** The form names what is shown, as that of a card does. What is not shown to its end cannot be allowed from here. */
const answers = ({ id, tool, server_id, argument_hash }: ApprovalRow, url: string, mayAllow: boolean): Html =>
  html`<form class="inline" method="post" action="/ui/approvals/${id}"><input type="hidden" name="approval" value="${id}"><input type="hidden" name="tool" value="${tool}"><input type="hidden" name="argument_hash" value="${argument_hash}"><input type="hidden" name="return_to" value="${url}">${mayAllow && html`<button class="main" name="action" value="allow" aria-label="Allow once: ${tool} on ${server_id}">Allow once</button> `}<button class="grave" name="action" value="deny" aria-label="Deny: ${tool} on ${server_id}">Deny</button></form> `

/** Characters of all values together that a line shows; of one that is cut, and how many members then. */
const LINE_CHARS = 160
const CUT_CHARS = 60
const CUT_MEMBERS = 4

/** The arguments of a call on one line. */
interface ArgumentSummary {
  readonly markup: Html
  /** Nothing is left out. */
  readonly isWhole: boolean
}

/** The members of arguments, given as JSON, each with its name; long values are cut. Null: they are not kept any more. */
const summaryOf = (json: string | null): ArgumentSummary => {
  if (json === null) return { markup: html`<span class="quiet">Arguments are no longer kept.</span>`, isWhole: false }
  const members = membersOf(json)
  if (members.length === 0) return { markup: html`<span class="quiet">without arguments</span>`, isWhole: true }
  const chars = members.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  const isWhole = chars <= LINE_CHARS && members.every(([, value]) => isLine(value))
  const displayed = isWhole ? members : members.slice(0, CUT_MEMBERS)
  const left = members.length - displayed.length
  return {
    markup: html`${displayed.map(([name, value], at) => html`${at > 0 && ' '}${name !== '' && html`<span class="quiet">${name}</span> `}${valueMark(value, isWhole)}`)}${left > 0 && html` <span class="quiet">and ${left} more</span>`}`,
    isWhole,
  }
}

const isLine = (text: string): boolean => !/[\n\r\u2028\u2029]/.test(text)

const valueMark = (value: string, isWhole: boolean): Html => {
  if (isWhole || (value.length <= CUT_CHARS && isLine(value))) return html`<code>${value}</code>`
  const [first = ''] = value.split(/[\n\r\u2028\u2029]/, 1)
  return html`<code>${first.slice(0, CUT_CHARS).toWellFormed()}…</code> <span class="quiet">${sizeText(value)}</span>`
}

const sizeText = (value: string): string => {
  const lines = value.split('\n').length
  return lines > 1 ? `${lines} lines` : `${value.length} characters`
}

/** Names and values; of what is no object, one without a name. */
const membersOf = (json: string): readonly (readonly [name: string, value: string])[] => {
  try {
    const args: unknown = readJson(json)
    if (!isJsonObject(args)) return [['', json]]
    return Object.entries(args).map(([name, value]) => [name, textOf(value)])
  } catch {
    return [['', json]]
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part))
