import type { Gateway } from 'guard-gateway/core'
import type { LocatedFault } from './fault.ts'
import { type LintFacts, lintsOf } from './lints.ts'
import { type LoadOptions, loadPolicy, type PolicySource } from './load.ts'
import type { TestResult } from './tests.ts'

/** What validation says of a policy. */
export interface Validation {
  /** No errors, and every test passes. */
  readonly valid: boolean
  /** Null where there are errors. */
  readonly version: string | null
  readonly errors: readonly LocatedFault[]
  readonly warnings: readonly LocatedFault[]
  readonly tests: readonly TestResult[]
}

/** Reads a policy, runs its tests and looks for what is worth a warning. */
export const validatePolicy = async (
  gateway: Gateway,
  source: PolicySource,
  { tools, keys, ...options }: LoadOptions & LintFacts = {},
): Promise<Validation> => {
  const { policy, valid, errors, tests, locate } = await loadPolicy(gateway, source, options)
  const warnings =
    policy === undefined ? [] : lintsOf(policy, locate, { ...(tools && { tools }), ...(keys && { keys }) })
  return { valid, version: policy?.version ?? null, errors, warnings, tests }
}
