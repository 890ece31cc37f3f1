import { type Gateway, GuardError } from 'guard-gateway/core'
import { socketErrors } from './error-codes.ts'
import type { KnownResponse } from './lanes.ts'

/**
 * Why user input for a running response is not passed on: a budget that blocks is used up, and the response that follows would spend more.
 * Undefined where none is, and where rules only report.
 */
export const spentBudget = async (
  gateway: Gateway,
  { mode, session }: KnownResponse,
): Promise<GuardError | undefined> => {
  if (mode !== 'enforce' || !session) return undefined
  const budgets = (await gateway.service('rules').get()?.budgets({ session })) ?? []
  const spent = budgets.find(({ action, left }) => action === 'block' && left <= 0)
  if (spent === undefined) return undefined
  const { rule_id, limit, unit } = spent
  return new GuardError(
    socketErrors.STEER_BUDGET,
    `Guard blocked this message: the budget of ${limit} ${unit} is used up. Raise it, or begin another session.`,
    { block: { session_id: session.row.id, rule_id }, headers: { 'x-should-retry': 'false' } },
  )
}
