export {
  type BudgetLeft,
  ENFORCE_RECOMMENDED,
  RECOMMENDED,
  type Rules,
  type UnseenUsage,
} from './budget/budget-left.ts'
export { type BudgetParams, budgetFault, budgetFinding, budgetPhrases, PERS, periodOfParams } from './budget/period.ts'
export { budgetLeftSchema, byRemainingShare, remainingShare, remainingText } from './budget/remaining.ts'
