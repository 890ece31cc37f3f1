/** One recorded run of an agent: a line of `bench.trajectory.v1`. Turn i first travels in request i + 2, both counted as their names say: turns from 0, requests from 1. */
export interface Trajectory {
  readonly schema: 'bench.trajectory.v1'
  readonly id: string
  /** Where it comes from; figures are told for each. */
  readonly source: string
  readonly task: string
  readonly model: string
  /** The part of a collection; all runs of a task are in the same one. */
  readonly split: string | null
  /** What the run shows, where a collection says more than its label. */
  readonly kind?: string
  /** Whether the task was solved; null if nobody checked. */
  readonly resolved: boolean | null
  readonly label: 'loop' | 'clean' | 'ambiguous' | null
  /** The first request that carries repetition. */
  readonly loop_start_step: number | null
  readonly system_chars: number
  readonly task_chars: number
  /** What each request took, where that was recorded. */
  readonly tokens?: readonly number[]
  readonly steps: readonly Step[]
}

/** One assistant turn, the results of its calls and what the user said then. Chars are of the original. */
export interface Step {
  readonly calls: readonly StepCall[]
  /** Of the arguments of all calls, where only their hashes are known. */
  readonly args_chars?: number
  /** In the order of the calls. */
  readonly results: readonly StepResult[]
  readonly text?: string
  readonly text_chars?: number
  readonly user?: string
  readonly user_chars?: number
}

/** Tool, and its arguments or a hash of them. */
export type StepCall = readonly [tool: string, args: unknown]

/** The result of a call: its text, its beginning and a hash of all, or a hash alone. */
export interface StepResult {
  readonly text?: string
  readonly hash?: string
  /** Of the result with digits masked; equal for errors that differ in numbers alone. */
  readonly masked_hash?: string
  readonly chars: number
  readonly error: boolean
  readonly empty: boolean
}

/** Whether results are known as text, so that their lines can be examined. */
export const hasText = ({ steps }: Trajectory): boolean =>
  steps.every(({ results }) => results.every(({ text, empty }) => empty || text !== undefined))
