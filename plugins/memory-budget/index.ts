import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { MemoryBudget } from '#lib/memory-budget'

export interface MemoryBudgetOptions {
  /** What histories, bodies, caches and open runs take together, about; absent or 0: an eighth of the memory, 48 MiB to 512 MiB. */
  readonly budget_bytes?: number
}

/** One memory budget for all stores of a gateway. Plugins that use it before, or without it, share one of the same size. */
export const memoryBudget = ({ budget_bytes = 0 }: MemoryBudgetOptions = {}): Plugin => ({
  name: 'memory-budget',
  apply(gateway: Gateway) {
    const budget = new MemoryBudget(budget_bytes || undefined)
    gateway.service('memory_budget').provide(budget)
    gateway.health.set('memory', () => ({
      budget_bytes: budget.bytes,
      held_bytes: budget.held,
      ...Object.fromEntries([...budget.byName()].map(([name, bytes]) => [`${name}_bytes`, bytes])),
    }))
    gateway.hooks.close.tap({ name: 'memory-budget', stage: stages.close.requests }, () => budget.end())
  },
})
