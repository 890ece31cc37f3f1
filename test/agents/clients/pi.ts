import { type Agent, shellJob, type Tools } from '../agent.ts'

const shell: Tools['shell'] = (command) => ({ name: 'bash', args: { command } })

export const pi: Agent = {
  id: 'pi',
  package: '@mariozechner/pi-coding-agent',
  version: '0.73.1',
  command: 'pi',
  model: 'm-1',
  args: (task) => ['-p', task],
  env: { PI_OFFLINE: '1' },
  point: ({ address, key }) => ({
    args: ['--provider', 'here', '--model', 'm-1'],
    files: {
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          here: { baseUrl: `${address}/v1`, api: 'openai-completions', apiKey: key, models: [{ id: 'm-1' }] },
        },
      }),
    },
  }),
  tools: {
    shell,
    read: (path) => ({ name: 'read', args: { path } }),
    edit: ({ file, from, to }) => ({ name: 'edit', args: { path: file, edits: [{ oldText: from, newText: to }] } }),
    ...shellJob(shell),
  },
  has_profile: true,
}
