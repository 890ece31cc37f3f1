export type { BudgetLeft, Rules } from './budget/budget-left.ts'
export { budgetLeftSchema, leftText, shareLeft, tightestFirst } from './budget/left.ts'
export { type BudgetParams, budgetFault, budgetFinding, budgetWords, PERS, periodIn } from './budget/period.ts'
