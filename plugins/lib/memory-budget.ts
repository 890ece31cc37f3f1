export { MemoryBudget } from './memory-budget/budget.ts'
export { estimatedBytes } from './memory-budget/estimated-bytes.ts'
export type { MemoryPart, PartOptions } from './memory-budget/part.ts'
