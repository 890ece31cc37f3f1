import { join } from 'node:path'
import { type Agent, shellJob, type Tools } from '../agent.ts'

const shell: Tools['shell'] = (command) => ({ name: 'Bash', args: { command } })

const config = (address: string, key: string): string => `name: here
version: 1.0.0
schema: v1
models:
  - name: here
    provider: openai
    model: m-1
    apiBase: ${address}/v1
    apiKey: ${key}
    roles: [chat]
    capabilities: [tool_use]
`

export const continueCli: Agent = {
  id: 'continue',
  package: '@continuedev/cli',
  version: '1.5.47',
  command: 'cn',
  model: 'm-1',
  args: (task) => ['-p', '--auto', task],
  env: { CONTINUE_TELEMETRY_ENABLED: '0' },
  point: ({ address, key, home }) => ({
    args: ['--config', join(home, 'config.yaml')],
    files: { 'config.yaml': config(address, key) },
  }),
  tools: {
    shell,
    read: (filepath) => ({ name: 'Read', args: { filepath } }),
    edit: ({ file, from, to }) => ({ name: 'Edit', args: { file_path: file, old_string: from, new_string: to } }),
    ...shellJob(shell),
  },
  has_profile: 'no run',
}
