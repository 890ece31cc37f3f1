import type { CloseOptions, Opened, OpenOptions, PaceOptions, PaceResult, RunOptions, RunResult } from './generator.ts'
import type { Usage, Watch } from './measure.ts'
import type { Profile, ProfileOptions } from './profile.ts'
import type { Plan } from './provider.ts'

/** The messages from the parent to its processes: input and result by name. */
export interface ChildMessages {
  /** Makes a proxy or provider listen. Resolves to its port. `upstream` is the port of the provider. */
  listen: readonly [input: { readonly upstream: number }, result: number]
  plan: readonly [input: Plan, result: true]
  usage: readonly [input: null, result: Usage]
  watch: readonly [input: Watch, result: true]
  profile_start: readonly [input: null, result: true]
  profile_stop: readonly [input: ProfileOptions, result: Profile]
  open: readonly [input: OpenOptions, result: Opened]
  run: readonly [input: RunOptions, result: RunResult]
  pace: readonly [input: PaceOptions, result: PaceResult]
  close: readonly [input: CloseOptions, result: true]
}

export type MessageName = keyof ChildMessages

/** A message to a process. */
export interface ChildRequest {
  readonly id: number
  readonly name: string
  readonly input: unknown
}

/** The response. `error` is the reason for a missing value. */
export interface ChildResponse {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}
