import { type Agent, shellJob, type Tools } from '../agent.ts'

const shell: Tools['shell'] = (command) => ({
  name: 'run_shell_command',
  args: { command, description: 'Runs a command' },
})

export const gemini: Agent = {
  id: 'gemini',
  package: '@google/gemini-cli',
  version: '0.61.0',
  command: 'gemini',
  model: 'm-1',
  args: (task) => ['-p', task, '--yolo'],
  env: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  point: ({ address, key }) => ({
    args: ['--model', 'm-1'],
    env: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: address },
    // no variable chooses how it logs in
    files: { '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' },
  }),
  tools: {
    shell,
    read: (file_path) => ({ name: 'read_file', args: { file_path } }),
    edit: ({ file, from, to }) => ({
      name: 'replace',
      args: { file_path: file, old_string: from, new_string: to, instruction: `Replace ${from}` },
    }),
    ...shellJob(shell),
  },
  stops_itself: true,
  has_profile: true,
}
