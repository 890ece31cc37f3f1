// Of what budgets are, and what is left of them: part of the public surface.

export { type BudgetLeft, budgetLeftSchema, leftText, shareLeft, tightestFirst } from './left.ts'
export {
  type BudgetParams,
  budgetFault,
  budgetFinding,
  budgetWords,
  PERS,
  type Per,
  type Period,
  type PeriodNow,
  periodIn,
} from './period.ts'
