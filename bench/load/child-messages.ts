import type { CloseOptions, Opened, OpenOptions, RunOptions, RunResult } from './generator.ts'
import type { Usage, Watch } from './measure.ts'
import type { Profile, ProfileOptions } from './profile.ts'
import type { Plan } from './provider.ts'

/** What the parent asks its processes: input and answer by name. */
export interface ChildMessages {
  /** A proxy or provider starts to listen; resolves to its port. `upstream` is the provider's port. */
  listen: readonly [input: { readonly upstream: number }, answer: number]
  plan: readonly [input: Plan, answer: true]
  usage: readonly [input: null, answer: Usage]
  watch: readonly [input: Watch, answer: true]
  profile_start: readonly [input: null, answer: true]
  profile_stop: readonly [input: ProfileOptions, answer: Profile]
  open: readonly [input: OpenOptions, answer: Opened]
  run: readonly [input: RunOptions, answer: RunResult]
  close: readonly [input: CloseOptions, answer: true]
}

export type Ask = keyof ChildMessages

/** One question on its way to a process. */
export interface Question {
  readonly id: number
  readonly ask: string
  readonly input: unknown
}

/** What comes back; `error` says why there is no value. */
export interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}
