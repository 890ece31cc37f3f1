import {
  argumentText,
  callKey,
  errorPrint,
  type Outcome,
  type Row,
  type SessionRow,
  type Settled,
} from 'guard-gateway/core'
import type { History } from './history.ts'

const failures: ReadonlySet<Outcome> = new Set<Outcome>(['upstream_error', 'unreachable', 'truncated'])

/** Completes the row of a finished request, and what its session has used. */
export const settle = (settled: Settled, row: Row, session: SessionRow, history: History): void => {
  // A repeated block has no row of its own.
  if (settled.decision.repeats !== null) return
  row.ended_at = settled.ended_at
  row.outcome = settled.outcome
  if (settled.outcome === 'blocked') return
  const failed = failures.has(settled.outcome)
  row.error_fingerprint = failed ? printOf(settled) : null
  row.response_id = settled.reading.response_id
  row.total_tokens = settled.usage.total_tokens
  row.cost_micro = settled.cost?.cost_micro ?? 0
  addUp(session, settled, failed)
  // Only now is known what its reply held.
  if (row.decision === 'allow' && settled.decision.decision === 'shadow_flag') session.flagged++
  history.reserved = Math.max(0, history.reserved - row.reserved)
  const used = history.usedBy(row.thread)
  used.tokens += settled.usage.total_tokens
  used.cost_micro += settled.cost?.cost_micro ?? 0
  used.reserved = Math.max(0, used.reserved - row.reserved)
  if (history.probe === row.id) history.probe = null
  const { id, outcome, error_fingerprint } = row
  history.ended({ id, ended_at: settled.ended_at, outcome: outcome ?? settled.outcome, error_fingerprint })
  for (const { id: callId, tool, args } of settled.reading.calls) {
    if (callId !== null) history.replies(callId, { tool, key: callKey(tool, argumentText(args)) })
  }
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
