import type { Gateway } from 'guard-gateway/core'
import type { AskJson, Input, Io } from '#lib/command'

/** Options of the policy commands. */
export interface PolicyCommandOptions {
  /** Gives `work` the running gateway, or one that is opened for it. */
  readonly asking: <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>
  /** Lists of rules that come with this version, by name. */
  readonly presets: () => Promise<Readonly<Record<string, unknown>>>
  /** What each of these is for, in a line; the one to start with first. */
  readonly summaries: Readonly<Record<string, string>>
  /** Gives `work` a gateway that is opened for it alone, with the configured prices and nothing stored. */
  readonly opened: <T>(work: (gateway: Gateway) => Promise<T>) => Promise<T>
  /** How this program is called. */
  readonly calledAs: string
}

/** The input and output of one of these commands. */
export interface CommandContext {
  readonly ask: AskJson
  readonly input: Input
  readonly io: Io
}

/** The path of a project's policy. */
export const policyPath = (project: unknown): string => `/api/policies/${encodeURIComponent(String(project))}`
