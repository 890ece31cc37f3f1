import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Launch, MARK, type Profile } from '../profile.ts'
import { KEY_VARIABLE, keyCommand, labels, type ProfileSettings, shellWord } from '../profile-settings.ts'

/** What its settings call an API style. */
const protocols: Readonly<Record<string, string>> = {
  chat_completions: 'openai',
  responses: 'openai-responses',
  messages: 'anthropic',
}
const styles = Object.keys(protocols)

const file = 'qwen-code/settings.json'
/** Names settings that win over those of the user, and leave the others alone. */
const SETTINGS = 'QWEN_CODE_SYSTEM_SETTINGS_PATH'

const settings = (setting: ProfileSettings) => {
  const { address, model } = setting
  const style = setting.styleOf(styles)
  const protocol = protocols[style] ?? ''
  const headers = {
    ...labels(setting, 'qwen-code'),
    'x-session-id': '$session_id',
    // in this style it goes by the name of another client, for which a block has another status
    ...(style === 'messages' ? { 'User-Agent': 'QwenCode/guard' } : {}),
  }
  return {
    security: { auth: { selectedType: protocol } },
    // without it the header with the session is not sent
    outboundCorrelation: { allowDynamicHeaderValues: true },
    modelProviders: {
      [protocol]: [
        {
          id: model,
          name: 'Guard Gateway',
          baseUrl: style === 'messages' ? address : `${address}/v1`,
          envKey: KEY_VARIABLE,
          generationConfig: { customHeaders: headers },
        },
      ],
    },
    model: { name: model },
  }
}

const text = (setting: ProfileSettings): string => `// ${MARK}\n${JSON.stringify(settings(setting), null, 2)}\n`

/** Whether an administrator has settings where ours would be: those are not pushed aside. */
const isAdministered = ({ has }: ProfileSettings): boolean => {
  const places: Partial<Record<NodeJS.Platform, string>> = {
    darwin: '/Library/Application Support/QwenCode/settings.json',
    win32: 'C:\\ProgramData\\qwen-code\\settings.json',
  }
  return has(SETTINGS) || existsSync(places[process.platform] ?? '/etc/qwen-code/settings.json')
}

/** Beside the settings of an administrator; headers cannot be told so. */
const byFlags = ({ address, model }: ProfileSettings): Launch => ({
  key_variables: ['OPENAI_API_KEY'],
  env: { OPENAI_BASE_URL: `${address}/v1` },
  flags: ['--auth-type', 'openai', '--model', model ?? ''],
})

export const qwenCode: Profile = {
  id: 'qwen-code',
  title: 'Qwen Code',
  tested_with: '0.24.4',
  style: 'chat_completions',
  styles,
  commands: ['qwen'],
  session_signs: /\$/,
  needs_model: true,
  // a model of its own settings would be asked where they say
  run_needs_model: [],
  files: (setting) => [{ path: file, text: text(setting) }],
  use: (setting) => [
    `${SETTINGS}=${shellWord(join(setting.folder, file))} GUARD_GATEWAY_KEY="$(${keyCommand(setting, 'qwen-code')})" qwen`,
  ],
  undo: () => `start qwen without ${SETTINGS}`,
  session: 'x-session-id, which these settings add',
  on_block: 'stops after one request and shows the message, since it gets status 403; others it repeats without end',
  launch: (setting) => {
    if (isAdministered(setting)) return byFlags(setting)
    return {
      key_variables: [KEY_VARIABLE],
      is_labelled: true,
      env: { [SETTINGS]: join(setting.folder, file) },
      flags: [],
      files: [{ path: file, text: text(setting) }],
    }
  },
}
