/** A coding agent from npm, and how it is driven without a person. */
export interface Agent {
  /** Client id of `guard setup`. */
  readonly id: string
  readonly package: string
  readonly version: string
  /** Run once behind the installation, since install scripts are off: a file of the package. */
  readonly prepare?: string
  readonly model: string
  /** Follow the command and whatever points it at the gateway. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const task = 'Run the commands that you find necessary, then stop.'

export const agents: readonly Agent[] = [
  {
    id: 'claude-code',
    package: '@anthropic-ai/claude-code',
    version: '2.1.330',
    prepare: 'install.cjs',
    model: 'claude-sonnet-4-5',
    args: ['-p', task, '--allowedTools', 'Bash', '--model', 'claude-sonnet-4-5'],
    env: { DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1' },
  },
  {
    id: 'codex',
    package: '@openai/codex',
    version: '0.169.0',
    model: 'gpt-5-codex',
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', task],
    env: {},
  },
  {
    id: 'opencode',
    package: 'opencode-ai',
    version: '1.18.33',
    prepare: 'postinstall.mjs',
    model: 'small-model',
    args: ['run', task],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  },
]
