import { type Agent, found } from '../agent.ts'
import { openCodeConfig, openCodeTools } from './opencode.ts'

export const kilo: Agent = {
  id: 'kilo',
  package: '@kilocode/cli',
  version: '7.7.7',
  prepare: 'postinstall.mjs',
  command: 'kilo',
  model: 'm-1',
  args: (task) => ['run', '--auto', task],
  env: { KILO_DISABLE_AUTOUPDATE: '1', KILO_DISABLE_MODELS_FETCH: '1' },
  point: (connection) => ({ env: { KILO_CONFIG_CONTENT: openCodeConfig(connection) } }),
  tools: {
    ...openCodeTools,
    background: (command) => ({
      name: 'background_process',
      args: { action: 'start', command, description: 'Starts a job' },
    }),
    poll: (said) => ({ name: 'background_process', args: { action: 'status', id: found(said, /(bgp_\w+)/) } }),
    running: /status: running/g,
  },
  has_profile: true,
}
