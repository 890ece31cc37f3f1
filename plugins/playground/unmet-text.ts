import type { Outcome } from './scenario.ts'
import type { StepResult } from './tables.ts'

/** The outcome of a step, as far as expectations are about it. */
export type ObservedOutcome = Pick<
  StepResult,
  'decision' | 'reason' | 'http_status' | 'outcome' | 'action' | 'forwarded' | 'total_tokens' | 'broken' | 'expected'
>

/** An unmet expectation as text: what was expected, and what came. `name`: as `missed` returns it. */
export const unmetText = (name: string, { expected, http_status, ...came }: ObservedOutcome): string => {
  if (name === 'sees') return `the answer does not hold "${expected.sees}"`
  if (name === 'lacks') return `the answer holds "${expected.lacks}"`
  const seen: Readonly<Record<string, unknown>> = { ...came, status: http_status }
  return `${name}: expected ${wordOf(expected[name as keyof Outcome])}, came ${wordOf(seen[name])}`
}

const wordOf = (value: unknown): string => String(value ?? 'none')
