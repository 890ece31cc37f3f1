import type { Input, Io } from 'guard-gateway/core'

/** Sends JSON to the interface and gives the answer's body; rejects with the error that it answers with. */
export type Ask = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => Promise<unknown>

/** Where commands find policies. */
export interface PolicyCommandOptions {
  /** Lets `work` ask the gateway that runs, or one that is opened for it. */
  readonly asking: <T>(work: (ask: Ask) => Promise<T>) => Promise<T>
  /** Lists of rules that come with this version, by name. */
  readonly presets: () => Promise<Readonly<Record<string, unknown>>>
}

/** What one of these commands works with. */
export interface Asked {
  readonly ask: Ask
  readonly input: Input
  readonly io: Io
}

/** The path of a project's policy. */
export const policyPath = (project: unknown): string => `/api/policies/${encodeURIComponent(String(project))}`
