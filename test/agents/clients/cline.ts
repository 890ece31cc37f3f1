import { join } from 'node:path'
import { type Agent, shellJob, type Tools } from '../agent.ts'

const shell: Tools['shell'] = (command) => ({ name: 'run_commands', args: { commands: [command] } })

export const cline: Agent = {
  id: 'cline',
  package: 'cline',
  version: '3.0.65',
  prepare: 'postinstall.mjs',
  command: 'cline',
  model: 'm-1',
  args: (task) => ['-y', task],
  env: {},
  point: ({ address, key, home }) => {
    const data = ['--data-dir', join(home, 'cline')]
    return {
      args: data,
      login: ['auth', '-p', 'openai-compatible', '-k', key, '-b', `${address}/v1`, '-m', 'm-1', ...data],
    }
  },
  tools: {
    shell,
    read: (path) => ({ name: 'read_files', args: { files: [{ path }] } }),
    edit: ({ file, from, to }) => ({ name: 'editor', args: { path: file, old_text: from, new_text: to } }),
    background: shellJob(shell).background,
    poll: (_, nth) => shell(`sleep ${1 + (nth % 3)}; cat job.status`),
    running: /\\"running\\\\n/g,
    finish: (summary) => ({ name: 'submit_and_exit', args: { summary, verified: true } }),
  },
  stops_itself: true,
  has_profile: true,
}
