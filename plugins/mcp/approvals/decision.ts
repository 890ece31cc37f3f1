import { type Gateway, GuardError } from 'guard-gateway/core'
import { cutText } from '#lib/text'
import { REASON_CHARS } from '../audit/limits.ts'
import { mcpErrors } from '../error-codes.ts'
import { type Approvals, isOpen, SESSION_SCOPE_MS } from './approvals.ts'
import { checkExpectedCall, type ExpectedCall } from './expected-call.ts'
import type { ApprovalRow, ApprovalStatus, ApprovalTexts } from './tables.ts'

/** What a person decides about a question. */
export interface Decision {
  readonly action: 'allow' | 'deny'
  /** `once` if absent. */
  readonly scope?: 'once' | 'session'
  readonly reason?: string | null
  /** The call that the person saw: if the approval is of another one, nothing is decided. */
  readonly expected?: ExpectedCall
}

/** An approval as it is now: one whose time is over counts as expired before that is written down. Throws APPROVAL_NOT_FOUND. */
export const approvalById = async (gateway: Gateway, approvals: Approvals, id: string): Promise<ApprovalRow> => {
  const row = await gateway.storage.get('mcp_approvals', id)
  if (row === undefined)
    throw new GuardError(
      mcpErrors.APPROVAL_NOT_FOUND,
      `There is no approval "${cutText(id, 64)}". List them with GET /api/v1/mcp/approvals.`,
    )
  return currentState(approvals, row)
}

/** The whole arguments of an approval as it is now, redacted, as JSON; null once it is over. */
export const textsById = async (
  gateway: Gateway,
  { id, preview, sent_preview }: ApprovalRow,
): Promise<{ readonly [N in Exclude<keyof ApprovalTexts, 'id'>]: string | null }> => {
  const texts = preview === null ? undefined : await gateway.storage.get('mcp_approval_texts', id)
  return texts ?? { arguments: preview, sent_arguments: sent_preview }
}

/** The row with its status as of now. */
export const currentState = (approvals: Approvals, row: ApprovalRow): ApprovalRow =>
  isOpen(row) && approvals.isOver(row)
    ? { ...row, status: 'expired', reason: row.reason ?? 'timeout', ...approvals.hidden() }
    : row

/** Takes a decision; synced to disk when it resolves. Throws APPROVAL_NOT_FOUND, APPROVAL_DECIDED and APPROVAL_EXPIRED, VERSION_CONFLICT if it is not what was shown, and STORAGE_BUSY if others write to its run all the time. */
export const decideApproval = async (
  gateway: Gateway,
  approvals: Approvals,
  id: string,
  decision: Decision,
  decided_via: NonNullable<ApprovalRow['decided_via']>,
): Promise<ApprovalRow> => {
  for (let attempt = 1; ; attempt++) {
    const row = await approvalById(gateway, approvals, id)
    checkExpectedCall(row, decision.expected ?? {})
    if (row.status !== 'pending') throw notPending(row)
    const patch = { ...patchOf(gateway, approvals, decision), decided_via }
    try {
      await approvals.settle(row, patch, patch.reason)
      await noteDecision(gateway, row, decision.action === 'deny' ? 'approval.denied' : 'approval.allowed', decided_via)
      return await approvalById(gateway, approvals, id)
    } catch (error) {
      if (!(error instanceof GuardError) || error.code !== 'STORAGE_BUSY' || attempt === ATTEMPTS) throw error
    }
  }
}
const ATTEMPTS = 5

/** Keeps who answered. */
export const noteDecision = async (
  gateway: Gateway,
  { id, project_id, server_id, tool }: ApprovalRow,
  action: string,
  via: NonNullable<ApprovalRow['decided_via']>,
): Promise<void> =>
  gateway.service('audit').get()?.note({ action, subject: id, project_id, details: { server_id, tool, via } })

const patchOf = (
  { clock, redact }: Gateway,
  { options: { timeout_ms } }: Approvals,
  { action, scope = 'once', reason = null }: Decision,
) => {
  const words = reason === null ? null : cutText(redact.text(reason), REASON_CHARS)
  const decided_at = clock.now()
  if (action === 'deny')
    return { status: 'denied', scope: 'once', reason: words, decided_at, expires_at: decided_at + timeout_ms } as const
  const expires_at = decided_at + (scope === 'session' ? SESSION_SCOPE_MS : timeout_ms)
  return { status: 'allowed', scope, reason: words, decided_at, expires_at } as const
}

const words: Readonly<Record<Exclude<ApprovalStatus, 'pending' | 'expired'>, string>> = {
  allowed: 'allowed already',
  denied: 'denied already',
  consumed: 'used already',
}

const notPending = ({ id, status, reason }: ApprovalRow): GuardError =>
  status === 'expired' || status === 'pending'
    ? new GuardError(
        mcpErrors.APPROVAL_EXPIRED,
        `Approval ${id} has expired (${reason ?? 'timeout'}). Let the agent repeat the call: that asks anew.`,
        { state: 'expired' },
      )
    : new GuardError(mcpErrors.APPROVAL_DECIDED, `Approval ${id} is ${words[status]}. A further call asks anew.`, {
        state: status,
      })
