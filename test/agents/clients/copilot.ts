import type { Agent } from '../agent.ts'

export const copilot: Agent = {
  id: 'copilot',
  package: '@github/copilot',
  version: '1.0.102',
  command: 'copilot',
  model: 'm-1',
  args: (task) => ['-p', task, '--allow-all-tools', '--allow-all-paths', '--no-color'],
  env: { COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' },
  point: ({ address, key }) => ({
    env: {
      COPILOT_PROVIDER_BASE_URL: `${address}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: key,
      COPILOT_MODEL: 'm-1',
    },
  }),
  tools: {
    shell: (command) => ({ name: 'bash', args: { command, description: 'Runs a command' } }),
    read: (path) => ({ name: 'view', args: { path } }),
    edit: ({ file, from, to }) => ({ name: 'edit', args: { path: file, old_str: from, new_str: to } }),
    background: (command) => ({
      name: 'bash',
      args: { command, description: 'Starts a job', mode: 'async', shellId: 'job' },
    }),
    poll: () => ({ name: 'read_bash', args: { shellId: 'job', delay: 1 } }),
    running: /is still running/g,
  },
  has_profile: true,
}
