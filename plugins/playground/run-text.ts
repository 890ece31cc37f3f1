import type { Input, Io } from '#lib/command'
import { cutToWidth, padToWidth, paintedWord, painter, terminalWidth, verdictSymbols } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { Outcome } from './scenario.ts'
import type { StepResult } from './tables.ts'

/** A run as the API returns it, as far as a terminal shows it. */
export interface StartedRun {
  readonly id: string
  readonly scenario_id: string
  readonly mode: string
  readonly status: string
  readonly matched: boolean | null
  readonly step_count: number
  readonly replay_url: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly steps: readonly StepSummary[]
}

interface StepSummary extends ObservedOutcome {
  readonly index: number
  readonly what: string
  readonly matched: boolean
  readonly missed: readonly string[]
}

const NUMBER = 3
const MAX_WHAT = 44
const MIN_WHAT = 12
const [MIN_VERDICT, MAX_VERDICT] = [26, 36]
/** `✗ unexpected`, and two blanks between the four columns. */
const REST = 12 + 6

/** One step on one line, and a line for each expectation that it missed. */
export const stepLine = (
  { index, what, matched, missed, ...seen }: StepSummary,
  input: Pick<Input, 'options'>,
  io: Pick<Io, 'env' | 'out'>,
): string => {
  const { ok, bad } = verdictSymbols(io)
  const paint = painter(input, io)
  const [decided = '', ...more] = verdictOf(seen).filter((word) => word !== null)
  const text = [decided, ...more].join('  ')
  const width = terminalWidth(io.out) ?? NUMBER + MAX_WHAT + MAX_VERDICT + REST
  const wide = Math.max(text.length, Math.min(MAX_VERDICT, Math.max(MIN_VERDICT, width - NUMBER - REST - MAX_WHAT)))
  const room = Math.min(MAX_WHAT, Math.max(MIN_WHAT, width - NUMBER - REST - wide))
  const padded = padToWidth(text, wide).replace(decided, paintedWord(decided, paint))
  const name = padToWidth(cutToWidth(terminalLine(what), room), room)
  const end = matched ? paint(`${ok} expected`, 'green') : paint(`${bad} unexpected`, 'red')
  const faults = missed.map((one) => `\n       ${terminalLine(unmetText(one, seen))}`).join('')
  return `${String(index).padStart(NUMBER)}  ${name}  ${padded}  ${end}${faults}`
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
export const outcomeOf = (
  run: StartedRun,
  address: string | undefined,
  input: Pick<Input, 'options'>,
  io: Pick<Io, 'env' | 'out'>,
): string => {
  if (run.error !== null) return `${run.status}: ${terminalLine(run.error.message)} (${run.error.code})`
  const met = run.steps.filter(({ matched }) => matched).length
  const where = address === undefined || typeof run.replay_url !== 'string' ? '' : `  ${address}${run.replay_url}`
  const paint = painter(input, io)
  const end = run.matched === true ? paint('matched', 'green') : paint(run.status, 'red')
  return `${end}  ${met}/${run.step_count}${where}\n`
}

/** The outcome of a step, as far as expectations are about it. */
type ObservedOutcome = Pick<
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
