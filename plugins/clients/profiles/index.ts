import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { KEY_HEADER, KEY_VARIABLE, keyCommand, labels, type ProfileSettings, shellWord } from '../profile-settings.ts'
import { claudeCode } from './claude-code.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { continueDev } from './continue.ts'
import { copilot } from './copilot.ts'
import { crush } from './crush.ts'
import { gemini } from './gemini.ts'
import { headerList } from './header-list.ts'
import { pi } from './pi.ts'
import { qwenCode } from './qwen-code.ts'
import { sdks } from './sdks.ts'
import { usedVariables, variablesFile } from './variables-file.ts'
import { zed } from './zed.ts'

const own = `{env:${KEY_VARIABLE}}`
const style = 'chat_completions'

/** What differs between OpenCode and what was made from it. */
interface OpenCodeLike extends Pick<Profile, 'id' | 'title' | 'session' | 'on_block'> {
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

const openCodeLike = (one: OpenCodeLike): Profile => {
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

const styles = ['chat_completions', 'messages']

const variables = (setting: ProfileSettings): Readonly<Record<string, string>> => {
  const { address, model } = setting
  const [provider, name] = setting.styleOf(styles) === 'messages' ? ['anthropic', 'ANTHROPIC'] : ['openai', 'OPENAI']
  return {
    GOOSE_PROVIDER: provider,
    GOOSE_PLANNER_PROVIDER: provider,
    ...(model === undefined ? {} : { GOOSE_MODEL: model, GOOSE_PLANNER_MODEL: model }),
    // a host in the environment comes before all other addresses
    [`${name}_HOST`]: address,
    ...(provider === 'openai' ? { OPENAI_BASE_PATH: 'v1/chat/completions' } : {}),
    [`${name}_CUSTOM_HEADERS`]: headerList(setting, 'goose', '=', ','),
  }
}

const keys = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY']

const goose: Profile = {
  id: 'goose',
  title: 'Goose',
  style: 'chat_completions',
  styles,
  commands: ['goose'],
  session_signs: /,/,
  needs_model: true,
  files: (setting) => variablesFile(setting, 'goose', variables(setting), keys),
  ...usedVariables('goose', 'goose'),
  session: 'agent-session-id',
  on_block: 'not tried; by its source it repeats a 429 three times and then shows the message',
  launch: (setting) => ({
    key_variables: keys,
    is_labelled: true,
    env: variables(setting),
    flags: [],
  }),
}

const file = 'aider/model.settings.yml'

const bases = ({ address }: ProfileSettings) => ({ OPENAI_API_BASE: `${address}/v1`, ANTHROPIC_API_BASE: address })

const aider: Profile = {
  id: 'aider',
  title: 'Aider',
  tested_with: '0.86',
  style: 'chat_completions',
  commands: ['aider'],
  needs_model: true,
  files: (setting) => [
    {
      path: file,
      text: [
        `# ${MARK}`,
        `- name: ${JSON.stringify(`openai/${setting.model}`)}`,
        '  extra_params:',
        `    extra_headers: ${JSON.stringify(labels(setting, 'aider'))}`,
        '',
      ].join('\n'),
    },
  ],
  use: (setting) => [
    `OPENAI_API_BASE=${setting.address}/v1 OPENAI_API_KEY="$(${keyCommand(setting, 'aider')})" aider --model ${shellWord(`openai/${setting.model}`)} --model-settings-file ${shellWord(join(setting.folder, file))}`,
  ],
  undo: () => 'start aider without --model-settings-file and OPENAI_API_BASE',
  session: 'nothing; its sessions are told apart by how they begin',
  on_block: 'shows the message after its own retries',
  launch: (setting) => ({
    key_variables: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY'],
    env: bases(setting),
    flags: setting.model === undefined ? [] : ['--model', `openai/${setting.model}`],
  }),
}

const nowhere =
  "Its model calls come from Cursor's servers, which refuse addresses of your machine; Agent mode and Tab ignore the base URL override."

const cursor: Profile = {
  id: 'cursor',
  title: 'Cursor',
  style: 'chat_completions',
  commands: ['cursor', 'cursor-agent'],
  impossible: nowhere,
  files: () => [],
  use: () => [],
  undo: () => '',
  session: '',
  on_block: '',
}

const opencode: Profile = openCodeLike({
  id: 'opencode',
  title: 'OpenCode',
  tested_with: '1.18.33',
  command: 'opencode',
  schema: 'https://opencode.ai/config.json',
  file_variable: 'OPENCODE_CONFIG',
  content_variable: 'OPENCODE_CONFIG_CONTENT',
  session: 'x-session-id',
  on_block: 'stops after one request and shows the message, since it gets status 403; others it repeats without end',
})

const kilo: Profile = openCodeLike({
  id: 'kilo',
  title: 'Kilo CLI',
  tested_with: '7.7.7',
  command: 'kilo',
  schema: 'https://app.kilo.ai/config.json',
  file_variable: 'KILO_CONFIG',
  content_variable: 'KILO_CONFIG_CONTENT',
  session: 'x-session-id',
  on_block: 'stops after one request and shows the message, since it gets status 403; others it repeats without end',
})

/** All clients, in display order. */
export const profiles: readonly Profile[] = [
  claudeCode,
  codex,
  opencode,
  cline,
  continueDev,
  gemini,
  qwenCode,
  copilot,
  kilo,
  pi,
  crush,
  goose,
  zed,
  aider,
  cursor,
  sdks,
]

/** Profile of an id or of a command's base name. An unknown command is treated as an SDK. */
export const profileOf = (command: string): Profile =>
  profiles.find(({ id, commands }) => id === command || commands.includes(command)) ?? sdks
