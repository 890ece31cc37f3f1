import { basename } from 'node:path'
import { type Agent, found } from '../agent.ts'

export const codex: Agent = {
  id: 'codex',
  package: '@openai/codex',
  version: '0.169.0',
  command: 'codex',
  // one that it knows, since others do not get apply_patch
  model: 'gpt-5.5',
  args: (task) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', task],
  env: {},
  point: ({ address, key }) => ({
    args: [
      '-c',
      `model_providers.here={ name = "here", base_url = "${address}/v1", wire_api = "responses", env_key = "PROVIDER_KEY" }`,
      '-c',
      'model_provider="here"',
      '-c',
      'model="gpt-5.5"',
    ],
    env: { PROVIDER_KEY: key },
  }),
  tools: {
    shell: (cmd) => ({ name: 'exec_command', args: { cmd } }),
    read: (file) => ({ name: 'exec_command', args: { cmd: `cat ${basename(file)}` } }),
    edit: ({ file, from, to }) => ({
      name: 'apply_patch',
      input: `*** Begin Patch\n*** Update File: ${basename(file)}\n@@\n-${from}\n+${to}\n*** End Patch`,
    }),
    background: (cmd) => ({ name: 'exec_command', args: { cmd, yield_time_ms: 250 } }),
    poll: (said) => ({
      name: 'write_stdin',
      args: { session_id: Number(found(said, /session ID (\d+)/)), chars: '', yield_time_ms: 250 },
    }),
    running: /running with session ID/g,
  },
  has_profile: true,
}

const { has_profile: _has, ...plain } = codex

/** By its default transport, which is a WebSocket wherever the address of OpenAI alone is another. */
export const codexWebSocket: Agent = {
  ...plain,
  id: 'codex-websocket',
  point: ({ address, key }) => ({
    args: ['-c', `openai_base_url="${address}/v1"`, '-c', 'model="gpt-5.5"', '-c', 'preferred_auth_method="apikey"'],
    env: { OPENAI_API_KEY: key, CODEX_API_KEY: key },
  }),
  uses_websocket: true,
}
