import { type Gateway, GuardError } from 'guard-gateway/core'
import { mcpErrors } from '../error-codes.ts'
import type { Approvals } from './approvals.ts'
import { approvalById, noteDecision } from './decision.ts'
import type { ApprovalRow } from './tables.ts'

const ATTEMPTS = 5

/**
 * Takes an allowance back. Unused, its question waits for a person again; of one for a session that was used, what was done stays done and nothing more passes.
 * Of the undoing and a use at the same time exactly one wins. Durable when it resolves. Throws APPROVAL_NOT_FOUND, APPROVAL_DECIDED where there is nothing to take back, APPROVAL_EXPIRED, STORAGE_BUSY.
 */
export const undoApproval = async (
  gateway: Gateway,
  approvals: Approvals,
  id: string,
  via: NonNullable<ApprovalRow['decided_via']>,
): Promise<ApprovalRow> => {
  for (let attempt = 1; ; attempt++) {
    const row = await approvalById(gateway, approvals, id)
    if (row.status !== 'allowed') throw nothingToUndo(row)
    try {
      await approvals.revoke(row, via)
      await noteDecision(gateway, row, 'approval.undone', via)
      return await approvalById(gateway, approvals, id)
    } catch (error) {
      if (!(error instanceof GuardError) || error.code !== 'STORAGE_BUSY' || attempt === ATTEMPTS) throw error
    }
  }
}

const nothingToUndo = ({ id, status, consumed_at }: ApprovalRow): GuardError => {
  if (status === 'expired')
    return new GuardError(mcpErrors.APPROVAL_EXPIRED, `Approval ${id} has expired: nothing passes by it.`, {
      state: status,
    })
  const when = consumed_at === null ? '' : ` at ${new Date(consumed_at).toISOString()}`
  const why = {
    consumed: `was used${when}: the call has been forwarded, and that cannot be taken back.`,
    denied: 'is denied: there is nothing to take back.',
    pending: 'waits for a decision: there is nothing to take back.',
    allowed: 'is allowed.',
  }[status]
  return new GuardError(mcpErrors.APPROVAL_DECIDED, `Approval ${id} ${why}`, { state: status })
}
