import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { keyCommand, labels, type Setting, shellWord } from '../setting.ts'

const options = (setting: Setting) => ({
  baseURL: `${setting.address}/v1`,
  apiKey: '{env:GUARD_GATEWAY_KEY}',
  headers: labels(setting, 'opencode'),
})

/** With a model, a provider of its own; without one, the providers that the user has configured are sent through the gateway. */
const config = (setting: Setting) =>
  setting.model === undefined
    ? { provider: { anthropic: { options: options(setting) }, openai: { options: options(setting) } } }
    : {
        model: `guard/${setting.model}`,
        small_model: `guard/${setting.model}`,
        provider: {
          guard: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Guard Gateway',
            options: options(setting),
            models: { [setting.model]: {} },
          },
        },
      }

const file = 'opencode.json'

export const opencode: Profile = {
  id: 'opencode',
  title: 'OpenCode',
  tested_with: '1.18.33',
  style: 'chat_completions',
  commands: ['opencode'],
  needs_model: true,
  files: (setting) => [
    {
      path: file,
      text: `// ${MARK}\n${JSON.stringify({ $schema: 'https://opencode.ai/config.json', ...config(setting) }, null, 2)}\n`,
    },
  ],
  use: (setting) => [
    `GUARD_GATEWAY_KEY="$(${keyCommand(setting, 'opencode')})" OPENCODE_CONFIG=${shellWord(join(setting.folder, file))} opencode`,
  ],
  undo: () => 'start opencode without OPENCODE_CONFIG',
  session: 'x-session-id',
  on_block: 'stops after one request and shows the message, since it gets status 403; others it repeats without end',
  launch: (setting) => ({
    key_variables: ['GUARD_GATEWAY_KEY'],
    env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config(setting)) },
    flags: [],
  }),
}
