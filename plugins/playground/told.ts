import { terminalLine } from 'guard-gateway/core'

/** A run as the interface gives it, as far as a terminal shows it. */
export interface Started {
  readonly id: string
  readonly scenario_id: string
  readonly mode: string
  readonly status: string
  readonly matched: boolean | null
  readonly step_count: number
  readonly session_id: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly steps: readonly Told[]
}

interface Told {
  readonly index: number
  readonly what: string
  readonly decision: string | null
  readonly reason: string | null
  readonly http_status: number
  readonly matched: boolean
  readonly missed: readonly string[]
}

/** One step on one line, and a line for each expectation that it missed. */
export const stepLine = ({ index, what, decision, reason, http_status, matched, missed }: Told): string => {
  const verdict = [decision ?? '', reason ?? '', decision === 'block' ? String(http_status) : ''].filter(Boolean)
  const line = `${String(index).padStart(3)}  ${terminalLine(what).padEnd(44)}  ${verdict.join('  ').padEnd(28)}`
  const faults = missed.map((text) => `\n       ${terminalLine(text)}`).join('')
  return `${line}  ${matched ? '✓ expected' : '✗ unexpected'}${faults}`
}

/** The last line of a run: whether all was as expected, and where to look at it if a gateway serves it. */
export const outcomeOf = (run: Started, address: string | undefined): string => {
  if (run.error !== null) return `${run.status}: ${terminalLine(run.error.message)} (${run.error.code})`
  const met = run.steps.filter(({ matched }) => matched).length
  const shown = address !== undefined && run.session_id !== null
  const where = shown ? `  ${address}/replay?session_id=${encodeURIComponent(run.session_id ?? '')}` : ''
  return `${run.matched === true ? 'matched' : run.status}  ${met}/${run.step_count}${where}\n`
}
