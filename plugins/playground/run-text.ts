import type { Io } from 'guard-gateway/lib/command'
import { verdictSymbols } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import { type ObservedOutcome, unmetText } from './unmet-text.ts'

/** A run as the API returns it, as far as a terminal shows it. */
export interface StartedRun {
  readonly id: string
  readonly scenario_id: string
  readonly mode: string
  readonly status: string
  readonly matched: boolean | null
  readonly step_count: number
  /** Absent in gateways of earlier versions. */
  readonly replay_url?: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly steps: readonly StepSummary[]
}

interface StepSummary extends ObservedOutcome {
  readonly index: number
  readonly what: string
  readonly matched: boolean
  readonly missed: readonly string[]
}

/** One step on one line, and a line for each expectation that it missed. */
export const stepLine = ({ index, what, matched, missed, ...seen }: StepSummary, io: Pick<Io, 'env'>): string => {
  const { ok, bad } = verdictSymbols(io)
  const verdict = verdictOf(seen).filter((word) => word !== null)
  const line = `${String(index).padStart(3)}  ${terminalLine(what).padEnd(44)}  ${verdict.join('  ').padEnd(36)}`
  const faults = missed.map((name) => `\n       ${terminalLine(unmetText(name, seen))}`).join('')
  return `${line}  ${matched ? `${ok} expected` : `${bad} unexpected`}${faults}`
}

const verdictOf = ({ decision, reason, action, forwarded, outcome, http_status }: Pick<StepSummary, Verdict>) => [
  decision ?? action ?? outcome,
  reason,
  decision === 'block' ? String(http_status) : null,
  // an allowed call is forwarded: only what is more than its action says is told
  forwarded === true && reason !== null ? 'forwarded' : null,
]

type Verdict = 'decision' | 'reason' | 'action' | 'forwarded' | 'outcome' | 'http_status'

/** The last line of a run: whether all was as expected, and its address if a gateway serves it. */
export const outcomeOf = (run: StartedRun, address: string | undefined): string => {
  if (run.error !== null) return `${run.status}: ${terminalLine(run.error.message)} (${run.error.code})`
  const met = run.steps.filter(({ matched }) => matched).length
  const where = address === undefined || typeof run.replay_url !== 'string' ? '' : `  ${address}${run.replay_url}`
  return `${run.matched === true ? 'matched' : run.status}  ${met}/${run.step_count}${where}\n`
}
