import type { Outcome } from './scenario.ts'
import type { StepResult } from './tables.ts'

/** What came of a step, as far as an expectation may be about it. */
export type Came = Pick<
  StepResult,
  'decision' | 'reason' | 'http_status' | 'outcome' | 'action' | 'forwarded' | 'total_tokens' | 'broken' | 'expected'
>

/** An expectation that was not met: what was expected, and what came. `name` as `missed` gives it. */
export const missedText = (name: string, { expected, http_status, ...came }: Came): string => {
  if (name === 'sees') return `the answer does not hold "${expected.sees}"`
  if (name === 'lacks') return `the answer holds "${expected.lacks}"`
  const seen: Readonly<Record<string, unknown>> = { ...came, status: http_status }
  return `${name}: expected ${wordOf(expected[name as keyof Outcome])}, came ${wordOf(seen[name])}`
}

const wordOf = (value: unknown): string => String(value ?? 'none')
