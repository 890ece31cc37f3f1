// Of what budgets are, and what is left of them: part of the public surface.

export { budgetLeftSchema, leftText, shareLeft, tightestFirst } from './left.ts'
export { type BudgetParams, budgetFault, budgetFinding, budgetWords, PERS, periodIn } from './period.ts'
