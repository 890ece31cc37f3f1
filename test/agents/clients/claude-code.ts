import { type Agent, found } from '../agent.ts'

export const claudeCode: Agent = {
  id: 'claude-code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.330',
  prepare: 'install.cjs',
  command: 'claude',
  model: 'claude-sonnet-4-5',
  args: (task) => ['-p', task, '--allowedTools', 'Bash,Edit,Write,Read', '--model', 'claude-sonnet-4-5'],
  env: { DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1' },
  point: ({ address, key }) => ({ env: { ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: key } }),
  tools: {
    shell: (command) => ({ name: 'Bash', args: { command, description: 'Runs a command' } }),
    read: (file_path) => ({ name: 'Read', args: { file_path } }),
    edit: ({ file, from, to }) => ({ name: 'Edit', args: { file_path: file, old_string: from, new_string: to } }),
    background: (command) => ({
      name: 'Bash',
      args: { command, description: 'Starts a job', run_in_background: true },
    }),
    // it tells the model to read the file that the output goes to
    poll: (said) => ({ name: 'Read', args: { file_path: found(said, /(\/[^\s"\\]*\.output)/) } }),
    running: /the contents are empty/g,
    delegate: (prompt) => ({
      name: 'Agent',
      args: { description: 'Reads the notes', prompt, subagent_type: 'general-purpose' },
    }),
  },
  has_profile: true,
}
