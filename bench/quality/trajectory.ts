/**
 * One recorded run of an agent: a line of `bench.trajectory.v1`. Turns count from 0, requests from 1. Turn i is first
 * part of request i + 2.
 */
export interface Trajectory {
  readonly schema: 'bench.trajectory.v1'
  readonly id: string
  /** The origin of the run. Figures are grouped by it. */
  readonly source: string
  readonly task: string
  readonly model: string
  /** The split of a collection. All runs of a task are in the same one. */
  readonly split: string | null
  /** The kind of behaviour, if the collection has more than a label. */
  readonly kind?: string
  /** True if the task was solved. Null if unchecked. */
  readonly resolved: boolean | null
  readonly label: 'loop' | 'clean' | 'ambiguous' | null
  /** The first request that contains a repetition. */
  readonly loop_start_step: number | null
  readonly system_chars: number
  readonly task_chars: number
  /** Tokens per request, if recorded. */
  readonly tokens?: readonly number[]
  readonly steps: readonly Step[]
}

/** One assistant turn, the results of its calls, and the user's message after it. Lengths are those of the original. */
export interface Step {
  readonly calls: readonly StepCall[]
  /** Characters of the arguments of all calls, if only hashes are known. */
  readonly args_chars?: number
  /** In the order of the calls. */
  readonly results: readonly StepResult[]
  readonly text?: string
  readonly text_chars?: number
  readonly user?: string
  readonly user_chars?: number
}

/** Tool name, and the arguments or their hash. */
export type StepCall = readonly [tool: string, args: unknown]

/** A tool result: its text, its beginning with a hash of the whole, or a hash alone. */
export interface StepResult {
  readonly text?: string
  readonly hash?: string
  /** Hash of the result with digits masked. Equal for errors that differ only in numbers. */
  readonly masked_hash?: string
  readonly chars: number
  readonly error: boolean
  readonly empty: boolean
}

/** True if the results are known as text, so that their lines can be examined. */
export const hasText = ({ steps }: Trajectory): boolean =>
  steps.every(({ results }) => results.every(({ text, empty }) => empty || text !== undefined))
