import { type FieldFault, type Form, GuardError, html, type Posted, type Sent } from 'guard-gateway/core'
import { type Decision, decideApproval } from '../approvals/index.ts'
import { acceptPins } from '../trust.ts'
import type { PageParts } from './index.ts'

/** The form that answers a question: allow or deny, once or for the session. */
export const approvalForm = ({ mcp, approver }: PageParts): Form => ({
  id: 'mcp/approval',
  path: '/ui/approvals/:id',
  page: '/mcp',
  notices: {
    'approval-allowed': 'Allowed. The agent may repeat the call.',
    'approval-denied': 'Denied. The agent is told when it repeats the call.',
  },
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
    return { notice: answer.action === 'allow' ? 'approval-allowed' : 'approval-denied' }
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
  return { action, scope, reason: fields.get('reason') || null }
}

/** The form that trusts definitions of tools as they stand. */
export const pinsForm = ({ mcp, approver }: PageParts): Form => ({
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
      await acceptPins(mcp, params.id ?? '', tools, shownIn(fields, tools))
    } catch (error) {
      if (!(error instanceof GuardError) || error.code !== 'VERSION_CONFLICT') throw error
      return { faults: [{ field: 'tools', message: error.message }] }
    }
    return { notice: 'pins-accepted' }
  },
})

/** Fingerprints of the definitions that the page showed of the chosen tools; each stands in a field before the tool's name. */
const shownIn = (fields: URLSearchParams, tools: readonly string[]): readonly string[] | undefined => {
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
  if (!(error instanceof GuardError) || (error.code !== 'APPROVAL_DECIDED' && error.code !== 'APPROVAL_EXPIRED'))
    throw error
  const title = error.code === 'APPROVAL_EXPIRED' ? 'Too late' : 'Decided already'
  const main = html`<h1>${title}</h1><p>${error.message}</p><p><a href="/mcp">Back to what waits now</a></p>`
  return { view: { title: `${title} · MCP`, main, status: 409 } }
}
