import type { Action, PartialVerdict } from '../judge/verdict.ts'

const order: readonly Action[] = ['allow', 'shadow_deny', 'transform', 'confirm', 'rate_limit', 'deny']

/** The larger, the stricter. */
export const strictness = (action: Action): number => order.indexOf(action)

export const stricter = (one: Action, other: Action): Action => (strictness(other) > strictness(one) ? other : one)

/** The strictest action of some opinions, and whose it is; there is at least one opinion. */
export const strictest = (
  opinions: readonly PartialVerdict[],
): { action: Action; winners: readonly PartialVerdict[] } => {
  const action = opinions.reduce<Action>((so_far, opinion) => stricter(so_far, opinion.action), 'allow')
  return { action, winners: opinions.filter((opinion) => opinion.action === action) }
}
