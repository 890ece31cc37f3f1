import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { KEY_HEADER, KEY_VARIABLE, keyCommand, labels, type ProfileSettings, shellWord } from '../profile-settings.ts'

const own = `{env:${KEY_VARIABLE}}`

/** `login`: reference to the provider's key; empty for providers that OpenCode knows. */
const options = (setting: ProfileSettings, style: string, login = '') => {
  const isLoggedIn = setting.sendsOwnLogin(style)
  const apiKey = isLoggedIn ? login : own
  return {
    baseURL: `${setting.address}/v1`,
    ...(apiKey === '' ? {} : { apiKey }),
    headers: { ...labels(setting, 'opencode'), ...(isLoggedIn ? { [KEY_HEADER]: own } : {}) },
  }
}

/** With a model, the profile adds a provider. Without one, it redirects the providers that the user has configured. */
const config = (setting: ProfileSettings) =>
  setting.model === undefined
    ? {
        provider: {
          anthropic: { options: options(setting, 'messages') },
          openai: { options: options(setting, 'responses') },
        },
      }
    : {
        model: `guard/${setting.model}`,
        small_model: `guard/${setting.model}`,
        provider: {
          guard: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Guard Gateway',
            options: options(setting, style, '{env:OPENAI_API_KEY}'),
            models: { [setting.model]: {} },
          },
        },
      }

const file = 'opencode.json'
const style = 'chat_completions'

/** Variables of the user's logins at providers that pass them on. */
const loginsOf = ({ sendsOwnLogin }: ProfileSettings): { readonly logins?: RegExp } => {
  const names = [
    ...(sendsOwnLogin('messages') ? ['ANTHROPIC'] : []),
    ...(sendsOwnLogin('responses') || sendsOwnLogin(style) ? ['OPENAI'] : []),
  ]
  return names.length === 0 ? {} : { logins: new RegExp(`^(?:${names.join('|')})_`) }
}

export const opencode: Profile = {
  id: 'opencode',
  title: 'OpenCode',
  tested_with: '1.18.33',
  style,
  commands: ['opencode'],
  supports_own_login: true,
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
  note: ({ sendsOwnLogin }) =>
    sendsOwnLogin(style)
      ? 'the key for the provider is taken from OPENAI_API_KEY, and the upstream needs auth: passthrough in guard-config.yml'
      : undefined,
  undo: () => 'start opencode without OPENCODE_CONFIG',
  session: 'x-session-id',
  on_block: 'stops after one request and shows the message, since it gets status 403; others it repeats without end',
  launch: (setting) => ({
    key_variables: [KEY_VARIABLE],
    ...loginsOf(setting),
    is_labelled: true,
    env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config(setting)) },
    flags: [],
  }),
}
