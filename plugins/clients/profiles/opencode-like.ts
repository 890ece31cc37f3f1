import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { KEY_HEADER, KEY_VARIABLE, keyCommand, labels, type ProfileSettings, shellWord } from '../profile-settings.ts'

const own = `{env:${KEY_VARIABLE}}`
const style = 'chat_completions'

/** What differs between OpenCode and what was made from it. */
export interface OpenCodeLike extends Pick<Profile, 'id' | 'title' | 'session' | 'on_block'> {
  readonly tested_with: string
  readonly command: string
  /** Of the configuration. */
  readonly schema: string
  /** Variable that names a configuration file. */
  readonly file_variable: string
  /** Variable that holds a configuration. */
  readonly content_variable: string
}

/** Where each style is asked, by the package that speaks it. */
const packages: Readonly<Record<string, string>> = {
  chat_completions: '@ai-sdk/openai-compatible',
  responses: '@ai-sdk/openai',
  messages: '@ai-sdk/anthropic',
}

/** `login`: reference to the provider's key; empty for providers that the client knows. */
const options = (setting: ProfileSettings, id: string, of: string, login = '') => {
  const isLoggedIn = setting.sendsOwnLogin(of)
  const apiKey = isLoggedIn ? login : own
  return {
    baseURL: `${setting.address}/v1`,
    ...(apiKey === '' ? {} : { apiKey }),
    headers: { ...labels(setting, id), ...(isLoggedIn ? { [KEY_HEADER]: own } : {}) },
  }
}

/** With a model, the profile adds a provider. Without one, it redirects the providers that the user has configured. */
const config = (setting: ProfileSettings, id: string) => {
  const { model } = setting
  if (model === undefined)
    return {
      provider: {
        anthropic: { options: options(setting, id, 'messages') },
        openai: { options: options(setting, id, 'responses') },
      },
    }
  const spoken = setting.styleOf(Object.keys(packages))
  const login = spoken === 'messages' ? '{env:ANTHROPIC_API_KEY}' : '{env:OPENAI_API_KEY}'
  return {
    model: `guard/${model}`,
    small_model: `guard/${model}`,
    provider: {
      guard: {
        npm: packages[spoken],
        name: 'Guard Gateway',
        options: options(setting, id, spoken, login),
        models: { [model]: {} },
      },
    },
  }
}

/** Variables of the user's logins at providers that pass them on. */
const loginsOf = ({ sendsOwnLogin }: ProfileSettings): { readonly logins?: RegExp } => {
  const names = [
    ...(sendsOwnLogin('messages') ? ['ANTHROPIC'] : []),
    ...(sendsOwnLogin('responses') || sendsOwnLogin(style) ? ['OPENAI'] : []),
  ]
  return names.length === 0 ? {} : { logins: new RegExp(`^(?:${names.join('|')})_`) }
}

export const openCodeLike = (one: OpenCodeLike): Profile => {
  const { id, title, tested_with, command, schema, file_variable, content_variable, session, on_block } = one
  const file = `${id}.json`
  return {
    id,
    title,
    tested_with,
    style,
    styles: Object.keys(packages),
    commands: [command],
    session_signs: /\{(?:env|file):/,
    supports_own_login: true,
    needs_model: true,
    files: (setting) => [
      {
        path: file,
        text: `// ${MARK}\n${JSON.stringify({ $schema: schema, ...config(setting, id) }, null, 2)}\n`,
      },
    ],
    use: (setting) => [
      `GUARD_GATEWAY_KEY="$(${keyCommand(setting, id)})" ${file_variable}=${shellWord(join(setting.folder, file))} ${command}`,
    ],
    note: ({ sendsOwnLogin }) =>
      sendsOwnLogin(style)
        ? 'the key for the provider is taken from OPENAI_API_KEY, and the upstream needs auth: passthrough in guard-config.yml'
        : undefined,
    undo: () => `start ${command} without ${file_variable}`,
    session,
    on_block,
    launch: (setting) => ({
      key_variables: [KEY_VARIABLE],
      ...loginsOf(setting),
      is_labelled: true,
      env: { [content_variable]: JSON.stringify(config(setting, id)) },
      flags: [],
      ...(setting.model === undefined ? { styles: ['messages', 'responses'] } : {}),
    }),
  }
}
