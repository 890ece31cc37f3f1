import type { Step, StepCall, StepResult, Trajectory } from './trajectory.ts'

const ERROR_LIKE = 1
const EMPTY = 4

/** `[hash, hash with errors masked, chars, flags]`, or the first characters with the hash of the whole text. */
type CompactResult =
  | readonly [hash: string, masked: string, chars: number, flags: number]
  | { readonly h: string; readonly n: number; readonly p: string }

type CompactText =
  | readonly [hash: string, chars: number]
  | { readonly h: string; readonly n: number; readonly p: string }

interface CompactStep {
  /** `[tool, argument hash, argument hash with white space collapsed, chars]` */
  readonly c?: readonly (readonly [tool: string, args: string, collapsed?: string, chars?: number])[]
  readonly a?: readonly StepCall[]
  readonly r?: readonly CompactResult[]
  readonly t?: string | readonly [hash: string, chars: number]
  readonly tn?: number
  readonly u?: CompactText
}

/** The storage format of a run in a collection: short names, and hashes or beginnings of texts. */
export interface CompactRun {
  readonly id: string
  readonly src: string
  readonly model?: string
  readonly task?: string
  readonly split?: string
  readonly resolved: boolean | null
  readonly sysn?: number
  readonly taskn?: number
  readonly label?: {
    readonly silver?: 'loop' | 'clean' | 'ambiguous'
    readonly silver_first_step?: number | null
    readonly human_repetition_steps?: readonly number[]
  }
  readonly steps: readonly CompactStep[]
}

/** Expands a compact run. */
export const fromCompact = (run: CompactRun): Trajectory => ({
  schema: 'bench.trajectory.v1',
  id: run.id,
  source: run.src,
  task: run.task ?? run.id,
  model: run.model ?? '',
  split: run.split ?? null,
  ...kindOf(run),
  resolved: run.resolved,
  label: run.label?.silver ?? null,
  loop_start_step: typeof run.label?.silver_first_step === 'number' ? run.label.silver_first_step + 2 : null,
  system_chars: run.sysn ?? 0,
  task_chars: run.taskn ?? 0,
  steps: run.steps.map(stepOf),
})

const kindOf = ({ label }: CompactRun): Pick<Trajectory, 'kind'> => {
  const seen = label?.human_repetition_steps
  if (seen === undefined) return {}
  return { kind: seen.length > 0 ? 'people saw repetition' : 'people saw none' }
}

const stepOf = ({ a, c, r, t, tn, u }: CompactStep): Step => ({
  calls: a ?? (c ?? []).map(([tool, args]) => [tool, args]),
  ...(a === undefined && c?.every(([, , , chars]) => chars !== undefined)
    ? { args_chars: c.reduce((sum, [, , , chars = 0]) => sum + chars, 0) }
    : {}),
  results: (r ?? []).map(resultOf),
  ...(t === undefined || t === null ? {} : assistantText(t, tn)),
  ...(u === undefined || u === null ? {} : userText(u)),
})

const assistantText = (
  text: NonNullable<CompactStep['t']>,
  chars: number | undefined,
): Pick<Step, 'text' | 'text_chars'> =>
  typeof text === 'string' ? { text, text_chars: chars ?? text.length } : { text: text[0], text_chars: text[1] }

const userText = (user: CompactText): Pick<Step, 'user' | 'user_chars'> =>
  'p' in user ? { user: user.p, user_chars: user.n } : { user: user[0], user_chars: user[1] }

const resultOf = (result: CompactResult): StepResult => {
  if ('p' in result)
    return { text: result.p, hash: result.h, chars: result.n, error: false, empty: result.p.trim() === '' }
  const [hash, masked_hash, chars, flags] = result
  return { hash, masked_hash, chars, error: (flags & ERROR_LIKE) !== 0, empty: (flags & EMPTY) !== 0 }
}

/** Merges the same run from two collections: the texts of one, the error flags and masked hashes of the other. */
export const merged = (one: Trajectory, other: Trajectory): Trajectory => {
  const [texts, flags] = one.steps.some(({ results }) => results.some(({ text }) => text !== undefined))
    ? [one, other]
    : [other, one]
  return { ...texts, steps: texts.steps.map((step, index) => withFlags(step, flags.steps[index])) }
}

const withFlags = (step: Step, flagged: Step | undefined): Step => {
  if (flagged === undefined || flagged.results.length !== step.results.length) return step
  return {
    ...step,
    results: step.results.map((result, index) => {
      const { masked_hash, error = false } = flagged.results[index] ?? {}
      return { ...result, ...(masked_hash === undefined ? {} : { masked_hash }), error: result.error || error }
    }),
  }
}
