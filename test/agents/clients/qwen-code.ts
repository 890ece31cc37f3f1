import { type Agent, found } from '../agent.ts'

const shell = (command: string, is_background: boolean) => ({
  name: 'run_shell_command',
  args: { command, is_background, description: 'Runs a command' },
})

export const qwenCode: Agent = {
  id: 'qwen-code',
  package: '@qwen-code/qwen-code',
  version: '0.24.4',
  command: 'qwen',
  model: 'm-1',
  args: (task) => ['-p', task, '--yolo'],
  env: {},
  point: ({ address, key }) => ({
    args: ['--auth-type', 'openai', '--model', 'm-1'],
    env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${address}/v1`, OPENAI_MODEL: 'm-1' },
  }),
  tools: {
    shell: (command) => shell(command, false),
    read: (file_path) => ({ name: 'read_file', args: { file_path } }),
    edit: ({ file, from, to }) => ({ name: 'edit', args: { file_path: file, old_string: from, new_string: to } }),
    background: (command) => shell(command, true),
    // it tells the model where state and output are; one of them alone would be the same call each time
    poll: (said, nth) => ({
      name: 'read_file',
      args: { file_path: found(said, nth % 2 === 0 ? /(\/[^\s"\\]*\.status)/ : /(\/[^\s"\\]*\.output)/) },
    }),
    running: /status[\\": ]+running|completed with no output|unchanged since last read/g,
  },
  stops_itself: true,
  has_profile: true,
}
