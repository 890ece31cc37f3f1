import { GuardError } from 'guard-gateway/core'
import { html } from 'guard-gateway/lib/html'
import type { FieldFault, Form, Posted, Sent } from 'guard-gateway/lib/page'
import { type Decision, decideApproval, type ExpectedCall, undoApproval } from '../approvals/index.ts'
import { acceptPins } from '../tools/accept-pins.ts'
import type { PageParts } from './index.ts'
import { answeredNotice } from './notice.ts'

/** The form that answers a question: allow or deny, once or for the session. */
export const approvalForm = ({ mcp, approver }: PageParts): Form => ({
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
export const undoForm = ({ mcp }: PageParts): Form => ({
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
  const shown = expectedCall(fields)
  // to deny an unseen call lets nothing pass
  if (action === 'allow' && (shown.tool === undefined || shown.argument_hash === undefined))
    return {
      field: 'action',
      message:
        'The form does not name the tool and the arguments that were shown. Open the page anew and answer there.',
    }
  return { action, scope, reason: fields.get('reason') || null, shown }
}

/** What the page showed, as its form names it. */
const expectedCall = (fields: URLSearchParams): ExpectedCall => {
  const [tool, argument_hash] = [fields.get('tool'), fields.get('argument_hash')]
  return { ...(tool === null ? {} : { tool }), ...(argument_hash === null ? {} : { argument_hash }) }
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
      await acceptPins(mcp, params.id ?? '', tools, shownFingerprints(fields, tools))
    } catch (error) {
      if (!(error instanceof GuardError) || error.code !== 'VERSION_CONFLICT') throw error
      return { faults: [{ field: 'tools', message: error.message }] }
    }
    return { notice: 'pins-accepted' }
  },
})

/** Fingerprints of the definitions that the page showed of the chosen tools; each is in a field before the tool's name. */
const shownFingerprints = (fields: URLSearchParams, tools: readonly string[]): readonly string[] | undefined => {
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
