import {
  argumentText,
  type CallRecord,
  callKey,
  errorPrint,
  type Outcome,
  type Row,
  type SessionRow,
  type Settled,
} from 'guard-gateway/core'
import type { History } from './history.ts'
import type { Policy } from './policy.ts'

const failures: ReadonlySet<Outcome> = new Set<Outcome>(['upstream_error', 'unreachable', 'truncated'])

/** The upstream refused it, it broke off, or it never got there. */
export const hasFailed = ({ outcome }: Pick<Row, 'outcome'>): boolean => outcome !== null && failures.has(outcome)

/** It used tokens that count nothing in a budget of money. */
export const isUnpriced = (tokens: number, source: CallRecord['cost_source'] | undefined): boolean =>
  tokens > 0 && source !== 'priced'

/** Completes the row of a finished request, and what its session has used; a budget of money that could not count it is noted. */
export const settle = (
  settled: Settled,
  row: Row,
  session: SessionRow,
  history: History,
  priced: Policy['priced'],
): void => {
  // A repeated block has no row of its own.
  if (settled.decision.repeats !== null) return
  row.ended_at = settled.ended_at
  row.outcome = settled.outcome
  if (settled.outcome === 'blocked') return
  const failed = hasFailed(settled)
  row.error_fingerprint = failed ? printOf(settled) : null
  row.response_id = settled.reading.response_id
  row.total_tokens = settled.usage.total_tokens
  row.cost_micro = settled.cost?.cost_micro ?? 0
  addUp(session, settled, failed)
  // Only now is known what its reply held.
  if (row.decision === 'allow' && settled.decision.decision === 'shadow_flag') session.flagged++
  use(settled, row, history, priced)
  if (history.probe === row.id) history.probe = null
  const { id, outcome, error_fingerprint } = row
  history.ended({ id, ended_at: settled.ended_at, outcome: outcome ?? settled.outcome, error_fingerprint })
  for (const { id: callId, tool, args } of settled.reading.calls) {
    if (callId !== null) history.replies(callId, { tool, key: callKey(tool, argumentText(args)) })
  }
}

/** What a conversation has used, and what of it a budget of money cannot see. */
const use = (settled: Settled, row: Row, history: History, priced: Policy['priced']): void => {
  history.reserved = Math.max(0, history.reserved - row.reserved)
  const used = history.usedBy(row.thread)
  if (hasFailed(settled)) used.failed++
  used.tokens += settled.usage.total_tokens
  used.cost_micro += settled.cost?.cost_micro ?? 0
  used.reserved = Math.max(0, used.reserved - row.reserved)
  if (!isUnpriced(settled.usage.total_tokens, settled.cost?.cost_source)) return
  history.noteUnpriced(row.thread)
  if (priced.length > 0) settled.call.notes.unpriced_rules = priced
}

const addUp = (session: SessionRow, { usage }: Settled, failed: boolean): void => {
  session.input_tokens += usage.input_tokens
  session.output_tokens += usage.output_tokens
  session.total_tokens += usage.total_tokens
  if (failed) session.errors++
}

/** A reply that broke off says nothing of why: all such are alike. */
const printOf = ({ status, error, outcome }: Settled): string =>
  errorPrint(status, error ?? { type: outcome, code: null, message: '' })
