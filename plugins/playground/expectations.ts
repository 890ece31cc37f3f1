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

/** A call of a tool that the MCP server gets and answers. */
export const passes: Expect = both({ action: 'allow', forwarded: true, outcome: 'ok' })

/** A call that is stopped where the policy is enforced, and only recorded elsewhere; there it ends as `elsewhere` says. */
export const stopped = (action: string, reason: string, sees: string, elsewhere = 'ok'): Expect => ({
  enforce: { action, reason, forwarded: false, outcome: 'tool_error', sees },
  shadow: { action, reason, forwarded: true, outcome: elsewhere },
})

/** What came of a step. */
export interface Observed {
  readonly decision: string | null
  readonly reason: string | null
  readonly http_status: number | null
  readonly outcome: string | null
  readonly action: string | null
  readonly forwarded: boolean | null
  readonly total_tokens: number | null
  /** The client's connection ended before the answer did. */
  readonly broken: boolean
  /** What the client was answered. */
  readonly body: string
}

/** Names of the expectations that were not met. */
export const missed = (expected: Outcome, seen: Observed): string[] => {
  const equal = <T>(required: T | undefined, is: T | null): boolean => required === undefined || required === is
  const { sees, lacks } = expected
  const checks: Readonly<Record<string, boolean>> = {
    decision: equal<string>(expected.decision, seen.decision),
    reason: (expected.reason ?? null) === seen.reason,
    status: equal(expected.status, seen.http_status),
    outcome: equal(expected.outcome, seen.outcome),
    action: equal(expected.action, seen.action),
    forwarded: equal(expected.forwarded, seen.forwarded),
    total_tokens: equal(expected.total_tokens, seen.total_tokens),
    broken: (expected.broken ?? false) === seen.broken,
    sees: sees === undefined || seen.body.includes(sees),
    lacks: lacks === undefined || !seen.body.includes(lacks),
  }
  return Object.keys(checks).filter((name) => checks[name] === false)
}
