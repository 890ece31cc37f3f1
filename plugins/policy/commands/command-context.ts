import type { Gateway } from 'guard-gateway/core'
import type { AskJson, Input, Io, Suggestion } from '#lib/command'
import { DEFAULT_PROJECT } from '#lib/session'

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

interface Listed {
  readonly sessions: readonly { readonly project_id: string }[]
}

/** Projects of the newest sessions, and the one that requests belong to which name none. */
export const suggestProjects = async (ask: AskJson): Promise<readonly Suggestion[]> => {
  const { sessions } = (await ask('GET', '/api/sessions?limit=100')) as Listed
  const projects = new Set([...sessions.map(({ project_id }) => project_id), DEFAULT_PROJECT])
  return [...projects].map((value) => ({ value }))
}
