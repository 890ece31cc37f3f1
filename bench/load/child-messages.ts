import type { CloseOptions, Opened, OpenOptions, RunOptions, RunResult } from './generator.ts'
import type { Usage, Watch } from './measure.ts'
import type { Profile, ProfileOptions } from './profile.ts'
import type { Plan } from './provider.ts'

/** The messages from the parent to its processes: input and result by name. */
export interface ChildMessages {
  /** Makes a proxy or provider listen. Resolves to its port. `upstream` is the port of the provider. */
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

/** A message to a process. */
export interface Question {
  readonly id: number
  readonly ask: string
  readonly input: unknown
}

/** The response. `error` is the reason for a missing value. */
export interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}
