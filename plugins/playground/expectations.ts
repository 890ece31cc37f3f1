import type { Expect, Outcome } from './scenario.ts'

/** The same in both modes. */
export const both = (outcome: Outcome): Expect => ({ shadow: outcome, enforce: outcome })

/** Forwarded and answered. */
export const allowed: Expect = both({ decision: 'allow', status: 200, outcome: 'ok' })

/** A rule that blocks where it is enforced, and flags what it forwards elsewhere. */
export const caught = (reason: string): Expect => ({
  shadow: { decision: 'shadow_flag', reason, status: 200, outcome: 'ok' },
  enforce: { decision: 'block', reason, status: 429, outcome: 'blocked' },
})

/** Refused whatever the mode. */
export const paused = (reason: string): Expect =>
  both({ decision: 'block', reason, status: 409, outcome: 'blocked', sees: reason })

/** An administration call that worked. */
export const done: Expect = both({ status: 200 })

/** What came of a step. */
export interface Observed {
  readonly decision: string | null
  readonly reason: string | null
  readonly http_status: number
  readonly outcome: string | null
  readonly total_tokens: number | null
  /** The client's connection ended before the answer did. */
  readonly broken: boolean
  /** What the client was answered. */
  readonly body: string
}

/** Names of the expectations that were not met. */
export const missed = (expected: Outcome, seen: Observed): string[] => {
  const checks: Readonly<Record<string, boolean>> = {
    decision: expected.decision === undefined || expected.decision === seen.decision,
    reason: (expected.reason ?? null) === seen.reason,
    status: expected.status === undefined || expected.status === seen.http_status,
    outcome: expected.outcome === undefined || expected.outcome === seen.outcome,
    total_tokens: expected.total_tokens === undefined || expected.total_tokens === seen.total_tokens,
    broken: (expected.broken ?? false) === seen.broken,
    sees: expected.sees === undefined || seen.body.includes(expected.sees),
  }
  return Object.keys(checks).filter((name) => checks[name] === false)
}
