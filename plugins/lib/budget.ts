export type { BudgetLeft, Rules } from './budget/budget-left.ts'
export { budgetLeftSchema, remainingText, remainingShare, byRemainingShare } from './budget/remaining.ts'
export { type BudgetParams, budgetFault, budgetFinding, budgetPhrases, PERS, periodOfParams } from './budget/period.ts'
