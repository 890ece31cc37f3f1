import { glob } from '#lib/glob'

/** Clients that are answered another status than a block's own 409 or 429. */
export interface StatusOverride {
  /** User agents as a glob, or how they look. */
  readonly agents: string
  /** Where a glob would be too wide. */
  readonly form?: RegExp
  readonly status: number
  /** Who sends them. */
  readonly clients: string
}

/**
 * Clients that repeat a 409 or 429 without end, whatever `x-should-retry` says, and show nothing: seen by running them against a block until
 * they were ended after a minute. With 403 they stop at once and show the message. The AI SDK itself gives up after three attempts; programs
 * made with it do not, and go by its name.
 */
export const builtInOverrides: readonly StatusOverride[] = [
  { agents: 'opencode/*', status: 403, clients: 'OpenCode' },
  { agents: 'Kilo-Code/*', status: 403, clients: 'Kilo' },
  { agents: 'kilo/*', status: 403, clients: 'Kilo, with a provider that it knows' },
  { agents: 'QwenCode/*', status: 403, clients: 'Qwen Code' },
  { agents: 'pi-coding-agent*', status: 403, clients: 'pi, by the profile of guard setup' },
  // it counts to ten, with up to half a minute between
  { agents: 'GeminiCLI*', status: 403, clients: 'Gemini CLI' },
  { agents: 'ai-sdk/*', status: 403, clients: 'Cline and others made with the AI SDK' },
  { agents: 'ai/*', status: 403, clients: 'programs made with the AI SDK' },
  // it goes by the name of a class of the OpenAI SDK as its bundler has cut it short; under its whole name the SDK stops at once
  { agents: 'ls/JS *', form: /^[\w$]{1,3}\/JS /, status: 403, clients: 'Continue CLI' },
]

/**
 * The status that a client gets instead of that of a block. `own` are the configuration's entries by user-agent glob: the first that matches
 * holds, and null leaves the block its status; where none does, what is built in.
 */
export const statusOverride = (
  own: Readonly<Record<string, number | null>>,
): ((userAgent: string, status: number) => number) => {
  const overrides = [
    ...Object.entries(own).map(([agents, status]) => ({ matches: glob(agents), status })),
    ...builtInOverrides.map(({ agents, form, status }) => ({
      matches: form === undefined ? glob(agents) : (userAgent: string) => form.test(userAgent),
      status,
    })),
  ]
  return (userAgent, status) => overrides.find(({ matches }) => matches(userAgent))?.status ?? status
}
