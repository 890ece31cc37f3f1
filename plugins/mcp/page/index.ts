import { GuardError } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { decisionMark, faultList, type Html, html, pageUrl } from '#lib/html'
import {
  type Ask,
  type FieldFault,
  type Form,
  formKind,
  type Page,
  type Panel,
  type Posted,
  pageKind,
  panelKind,
  type Sent,
  searchSourceKind,
  waitingSourceKind,
} from '#lib/page'
import { PLAYGROUND_UPSTREAM } from '#lib/trace'
import {
  type ApprovalRow,
  approvalById,
  type Decision,
  decideApproval,
  type ExpectedCall,
  textsById,
  undoApproval,
} from '../approvals/index.ts'
import { type Width, widths } from '../rule-from-call/likeness.ts'
import type { RuleProposal } from '../rule-from-call/rule-proposal.ts'
import type { McpSimulation, SimulatedGroup } from '../simulate/simulation.ts'
import { acceptPins } from '../tools/accept-pins.ts'
import { wordOf } from './answered-approvals.ts'
import { approvalUrl, questionCard } from './approval-card.ts'
import { approvalSource } from './approval-line.ts'
import { auditTable } from './decisions.ts'
import { draftPage } from './draft-page.ts'
import { nameMark, spanLink } from './marks.ts'
import { mcpPage } from './mcp-page.ts'
import { answeredNotice, undoButton } from './notice.ts'
import { mcpSource } from './search.ts'
import type { PageParts } from './types.ts'

/** Adds the page of the MCP proxy, and its forms. */
export const addPages = (parts: PageParts): void => {
  const { gateway } = parts.mcp
  gateway.registry(pageKind).add(mcpPage(parts))
  gateway.registry(pageKind).add(approvalPage(parts))
  gateway.registry(pageKind).add(rulePage(parts))
  gateway.registry(pageKind).add(draftPage(parts))
  gateway.registry(waitingSourceKind).add(approvalSource(parts))
  gateway.registry(panelKind).add(refusedPanel(parts))
  gateway.registry(searchSourceKind).add(mcpSource(parts))
  gateway.registry(formKind).add(approvalForm(parts))
  gateway.registry(formKind).add(undoForm(parts))
  gateway.registry(formKind).add(pinsForm(parts))
  gateway.registry(formKind).add(ruleForm(parts))
}

/** One question with its arguments to the end, however long they are. Throws APPROVAL_NOT_FOUND. */
const approvalPage = ({ mcp, approver }: PageParts): Page => ({
  id: 'mcp/approval',
  path: '/approvals/:id',
  render: async (ask) => {
    const row = await approvalById(mcp.gateway, mcp.approvals, ask.params.id ?? '')
    const displayed = await textsById(mcp.gateway, row)
    const main = html`<div data-live="${row.trace_id}"><div class="head"><h1>Approval</h1><p>${wordOf(row)}</p>${row.status === 'allowed' && undoButton(row, ask.url)}<p class="acts"><a href="/mcp">All that waits</a></p></div>
${faultList(ask.refused?.faults ?? [])}
${questionCard(ask, row, displayed, approver)}</div>`
    return { title: `${row.tool} · MCP`, main }
  },
})

const DAY_MS = 86_400_000
/** A look costs the same however much is on record. */
const MAX_EVENTS = 200
const MAX_REFUSED = 5

/** The calls of tools recently that were not simply allowed. */
const refusedPanel = ({ mcp }: PageParts): Panel => ({
  id: 'mcp/refused',
  order: 45,
  render: async (ask) => {
    const { rows } = await mcp.gateway.storage.find('mcp_audit', { order: ['at', 'desc'], limit: MAX_EVENTS })
    const refused = rows.filter(
      ({ kind, action, at, transport }) =>
        kind === 'decision' && action !== 'allow' && at >= ask.now - DAY_MS && transport !== PLAYGROUND_UPSTREAM,
    )
    if (refused.length === 0) return undefined
    return html`<h2>Tool calls that were not simply allowed, last 24 hours</h2>
${auditTable(ask, refused.slice(0, MAX_REFUSED))}
${refused.length > MAX_REFUSED && html`<p><a href="/mcp#decisions">All decisions about tool calls</a></p>`}`
  },
})

/** The form that answers a question: allow or deny, once or for the session. */
const approvalForm = ({ mcp, approver }: PageParts): Form => ({
  id: 'mcp/approval',
  path: '/ui/approvals/:id',
  page: '/mcp',
  notices: {
    'approval-allowed': 'Allowed. The agent may repeat the call.',
    'approval-denied': 'Denied. The agent is told when it repeats the call.',
  },
  tell: (_code, about, ask) => answeredNotice(mcp, about, ask),
  submit: async ({ params, fields }: Posted) => {
    const answer = answerOf(fields)
    if ('field' in answer) return { faults: [answer] }
    const wrong = approver.faultIn(fields)
    if (wrong !== undefined) return { faults: [wrong] }
    try {
      await decideApproval(mcp.gateway, mcp.approvals, params.id ?? '', answer, 'ui')
    } catch (error) {
      return tooLate(error)
    }
    return { notice: answer.action === 'allow' ? 'approval-allowed' : 'approval-denied', about: params.id ?? '' }
  },
})

/** The form that revokes an allowed call. It needs no key: it can only make the gateway stricter. */
const undoForm = ({ mcp }: PageParts): Form => ({
  id: 'mcp/undo',
  path: '/ui/approvals/:id/undo',
  page: '/mcp',
  notices: { 'approval-undone': 'Taken back.' },
  tell: (_code, about, ask) => answeredNotice(mcp, about, ask),
  submit: async ({ params }: Posted) => {
    try {
      await undoApproval(mcp.gateway, mcp.approvals, params.id ?? '', 'ui')
    } catch (error) {
      return tooLate(error)
    }
    return { notice: 'approval-undone', about: params.id ?? '' }
  },
})

/** What was pressed, `allow:session` being an allowance with its scope; or what is wrong with it. */
const answerOf = (fields: URLSearchParams): Decision | FieldFault => {
  const [action, named] = (fields.get('action') ?? '').split(':', 2)
  const scope = named ?? (fields.get('scope') || 'once')
  if (action !== 'allow' && action !== 'deny')
    return { field: 'action', message: 'Say whether the call is allowed or denied.' }
  if (scope !== 'once' && scope !== 'session')
    return { field: 'scope', message: 'A decision holds once or for the session.' }
  const displayed = expectedCall(fields)
  // to deny an unseen call lets nothing pass
  if (action === 'allow' && (displayed.tool === undefined || displayed.argument_hash === undefined))
    return {
      field: 'action',
      message:
        'The form does not name the tool and the arguments that were shown. Open the page anew and answer there.',
    }
  return { action, scope, reason: fields.get('reason') || null, expected: displayed }
}

/** What the page showed, as its form names it. */
const expectedCall = (fields: URLSearchParams): ExpectedCall => {
  const [tool, argument_hash] = [fields.get('tool'), fields.get('argument_hash')]
  return { ...(tool === null ? {} : { tool }), ...(argument_hash === null ? {} : { argument_hash }) }
}

/** The form that trusts definitions of tools as they stand. */
const pinsForm = ({ mcp, approver }: PageParts): Form => ({
  id: 'mcp/pins',
  path: '/ui/mcp/servers/:id/pins',
  page: '/mcp',
  notices: { 'pins-accepted': 'The definitions are trusted as they stand now.' },
  submit: async ({ params, fields }: Posted) => {
    const tools = fields.getAll('tools')
    if (tools.length === 0)
      return { faults: [{ field: 'tools', message: 'Choose the tools whose definitions you trust.' }] }
    const wrong = approver.faultIn(fields)
    if (wrong !== undefined) return { faults: [wrong] }
    try {
      await acceptPins(mcp, params.id ?? '', tools, displayedFingerprints(fields, tools))
    } catch (error) {
      if (!(error instanceof GuardError) || error.code !== 'VERSION_CONFLICT') throw error
      return { faults: [{ field: 'tools', message: error.message }] }
    }
    return { notice: 'pins-accepted' }
  },
})

/** Fingerprints of the definitions that the page showed of the chosen tools; each is in a field before the tool's name. */
const displayedFingerprints = (fields: URLSearchParams, tools: readonly string[]): readonly string[] | undefined => {
  const seen = fields
    .getAll('seen')
    .map((text) => [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)])
  const chosen = seen.flatMap(([fingerprint = '', name = '']) =>
    fingerprint !== '' && tools.includes(name) ? [fingerprint] : [],
  )
  return seen.length === 0 ? undefined : chosen
}

/** Somebody else was quicker, or the time is over: what is true now, and the way back. Rethrows everything else. */
const tooLate = (error: unknown): Sent => {
  const title = error instanceof GuardError ? titles[error.code] : undefined
  if (!(error instanceof GuardError) || title === undefined) throw error
  const main = html`<h1>${title}</h1><p>${error.message}</p><p><a href="/mcp">Back to what waits now</a></p>`
  return { view: { title: `${title} · MCP`, main, status: 409 } }
}

const titles: Readonly<Record<string, string>> = {
  APPROVAL_EXPIRED: 'Too late',
  APPROVAL_DECIDED: 'Decided already',
  VERSION_CONFLICT: 'Not what was shown',
}

/** Where a rule is made of a call. */
const ruleUrl = (id: string): string => `${approvalUrl(id)}/rule`

const widthOf = (text: string | null): Width => widths.find((width) => width === text) ?? 'narrow'

/** A rule made of one call, what else it changes, and what it would have decided on record. Throws APPROVAL_NOT_FOUND. */
const rulePage = (parts: PageParts): Page => ({
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
const ruleForm = ({ mcp, approver }: PageParts): Form => ({
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

/** What a policy would have said of calls on record. */
const simulationPart = ({ calls, same, differ, stricter, looser, depends, changes, unknown }: McpSimulation): Html =>
  calls === 0
    ? html`<p class="quiet">No such call is on record.</p>`
    : html`<p>${calls} call${calls === 1 ? '' : 's'} on record: ${same} the same, <strong>${differ} would differ</strong> (${looser} looser, ${stricter} stricter), ${depends} depend on arguments that are not on record.</p>
${changes.length + unknown.length > 0 && table([...changes, ...unknown])}`

const MAX_GROUPS = 20

const table = (groups: readonly SimulatedGroup[]): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col">Was</th><th scope="col">Would be</th><th scope="col">Calls</th><th scope="col">Let through then</th><th scope="col" class="free">Tool</th><th scope="col">Rules</th><th scope="col">Replay</th></tr></thead><tbody>
${groups.slice(0, MAX_GROUPS).map(groupRow)}</tbody></table>`

const groupRow = ({
  was,
  would_be,
  calls,
  forwarded,
  tool,
  server_id,
  rule_ids,
  examples: [first],
}: SimulatedGroup): Html =>
  html`<tr><td>${decisionMark(was)}</td><td>${would_be.map((action, at) => html`${at > 0 && ' or '}${decisionMark(action)}`)}</td><td>${calls}</td><td>${forwarded}</td><td>${nameMark(tool)} <span class="quiet">on ${server_id}</span></td><td>${rule_ids.join(', ')}</td><td>${first !== undefined && spanLink(first.trace_id, first.span_id, 'Show')}</td></tr>
`
