import { GuardError } from 'guard-gateway/core'
import { approverField } from 'guard-gateway/lib/approver'
import { faultList, type Html, html, pageUrl } from 'guard-gateway/lib/html'
import type { Ask, FieldFault, Form, Page, Posted } from 'guard-gateway/lib/page'
import { type ApprovalRow, approvalById } from '../approvals/index.ts'
import { type Width, widths } from '../rule-from-call/likeness.ts'
import type { RuleProposal } from '../rule-from-call/rule-proposal.ts'
import { approvalUrl } from './approval-card.ts'
import type { PageParts } from './index.ts'
import { simulationPart } from './simulation-table.ts'

/** Where a rule is made of a call. */
export const ruleUrl = (id: string): string => `${approvalUrl(id)}/rule`

const widthOf = (text: string | null): Width => widths.find((width) => width === text) ?? 'narrow'

/** A rule made of one call, what else it changes, and what it would have decided on record. Throws APPROVAL_NOT_FOUND. */
export const rulePage = (parts: PageParts): Page => ({
  id: 'mcp/rule',
  path: '/approvals/:id/rule',
  render: async (ask) => {
    const { mcp } = parts
    const row = await approvalById(mcp.gateway, mcp.approvals, ask.params.id ?? '')
    const width = widthOf(ask.query.get('width'))
    const { ruleProposal } = await import('../rule-from-call/rule-proposal.ts')
    const main = await ruleProposal(mcp, row.id, width).then(
      (made) => proposalPart(parts, ask, row, made),
      (error: unknown) => refusedPart(error),
    )
    return {
      title: `Rule for ${row.tool} · MCP`,
      main: html`<div class="head"><h1>A rule for ${row.tool}</h1><p class="quiet">on ${row.server_id}</p><p class="acts"><a href="${approvalUrl(row.id)}">The call</a></p></div>
${faultList(ask.refused?.faults ?? [])}
${main}`,
    }
  },
})

const CODES = new Set(['ARGUMENTS_NOT_KEPT', 'RULE_NOT_WRITABLE'])

const refusedPart = (error: unknown): Html => {
  if (!(error instanceof GuardError) || !CODES.has(error.code)) throw error
  return html`<p class="warning">${error.message}. ${error.entry.help}</p>`
}

const words: Readonly<Record<Width, string>> = {
  narrow: 'The same files, hosts and commands',
  wide: 'The same folder, domain or beginning of a command',
}

const proposalPart = (parts: PageParts, ask: Ask, row: ApprovalRow, made: RuleProposal): Html => {
  const { width, yaml, changes, stuck, preview } = made
  return html`<p>${widths.map((one, at) => html`${at > 0 && ' · '}${one === width ? html`<strong>${words[one]}</strong>` : html`<a href="${pageUrl(ruleUrl(row.id), { width: one })}">${words[one]}</a>`}`)}</p>
<pre tabindex="0" role="group" aria-label="The rule">${yaml}</pre> <button class="plain" data-copy="${yaml}">Copy</button>
${changes.length > 0 && html`<p>With it:</p><ul>${changes.map((change) => html`<li>${change}</li>`)}</ul>`}
${stuck.length > 0 && html`<div class="warning"><p>It cannot be written into the policy as it is:</p><ul>${stuck.map((why) => html`<li>${why}</li>`)}</ul></div>`}
${preview !== null && html`<h2>What it would have decided on record</h2>${simulationPart(preview)}`}
${writePart(parts, ask, row, made)}`
}

const writePart = ({ approver }: PageParts, { refused }: Ask, { id }: ApprovalRow, made: RuleProposal): Html => {
  const { file, after, width, policy_version } = made
  if (after === null) return html``
  if (file === null)
    return html`<p class="quiet">No policy file is configured: copy it into one, and name that at <code>mcp.policy</code>.</p>`
  return html`<form class="filters" method="post" action="/ui/approvals/${id}/rule"><input type="hidden" name="return_to" value="${approvalUrl(id)}"><input type="hidden" name="width" value="${width}"><input type="hidden" name="policy_version" value="${policy_version}">
${approverField(approver, refused?.faults)}<button class="main">Write it into the policy</button> <span class="quiet"><code>${file}</code>, comments kept; in force at once, for calls from now on</span></form>
<details><summary>The whole policy with it</summary><pre tabindex="0" role="group" aria-label="The policy">${after}</pre></details>`
}

/** The form that writes it. */
export const ruleForm = ({ mcp, approver }: PageParts): Form => ({
  id: 'mcp/rule',
  path: '/ui/approvals/:id/rule',
  page: '/approvals/:id/rule',
  notices: { 'rule-written': 'The rule is in the policy file.' },
  submit: async ({ params, fields }: Posted) => {
    const wrong = approver.faultIn(fields)
    if (wrong !== undefined) return { faults: [wrong] }
    const { writeRule } = await import('../rule-from-call/write-rule.ts')
    try {
      await writeRule(mcp, params.id ?? '', widthOf(fields.get('width')), fields.get('policy_version') ?? undefined)
    } catch (error) {
      return { faults: [faultOf(error)] }
    }
    return { notice: 'rule-written' }
  },
})

const faultOf = (error: unknown): FieldFault => {
  if (!(error instanceof GuardError) || !(CODES.has(error.code) || error.code === 'VERSION_CONFLICT')) throw error
  return { field: '', message: error.message }
}
