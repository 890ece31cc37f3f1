import { type Agent, type Connection, shellJob, type Tools } from '../agent.ts'

/** The configuration of OpenCode and of what was made from it. */
export const openCodeConfig = ({ address, key }: Connection): string =>
  JSON.stringify({
    model: 'here/m-1',
    small_model: 'here/m-1',
    provider: {
      here: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Here',
        options: { baseURL: `${address}/v1`, apiKey: key },
        models: { 'm-1': {} },
      },
    },
  })

const shell: Tools['shell'] = (command) => ({ name: 'bash', args: { command, description: 'Runs a command' } })

export const openCodeTools: Tools = {
  shell,
  read: (filePath) => ({ name: 'read', args: { filePath } }),
  edit: ({ file, from, to }) => ({ name: 'edit', args: { filePath: file, oldString: from, newString: to } }),
  ...shellJob(shell),
}

export const opencode: Agent = {
  id: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  prepare: 'postinstall.mjs',
  command: 'opencode',
  model: 'm-1',
  args: (task) => ['run', task],
  env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  point: (connection) => ({ env: { OPENCODE_CONFIG_CONTENT: openCodeConfig(connection) } }),
  tools: openCodeTools,
  has_profile: true,
}

const { has_profile: _has, ...plain } = opencode

/** Over WebSocket, which it has for OpenAI's own provider once it is switched on. */
export const openCodeWebSocket: Agent = {
  ...plain,
  id: 'opencode-websocket',
  env: { ...opencode.env, OPENCODE_EXPERIMENTAL_WEBSOCKETS: '1' },
  point: ({ address, key }) => ({
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: 'openai/m-1',
        small_model: 'openai/m-1',
        provider: { openai: { options: { baseURL: `${address}/v1` }, models: { 'm-1': {} } } },
      }),
    },
    // without a login of the provider's it is not switched on
    files: { '.local/share/opencode/auth.json': JSON.stringify({ openai: { type: 'api', key } }) },
  }),
  uses_websocket: true,
}
