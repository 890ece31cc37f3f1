import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import {
  guardCommand,
  headerLines,
  KEY_HEADER,
  KEY_VARIABLE,
  keyCommand,
  labels,
  type ProfileSettings,
  shellWord,
} from '../profile-settings.ts'

const style = 'messages'

/** Each of these variables bypasses the base URL, whatever its value. */
const around = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY']

/** Value of `--settings`, as a file or as text. It overrides the user's settings. */
const settings = (setting: ProfileSettings, headers: Readonly<Record<string, string>>, key: string) => {
  const isLoggedIn = setting.sendsOwnLogin(style)
  return {
    env: {
      ANTHROPIC_BASE_URL: setting.address,
      ...(Object.keys(headers).length === 0 ? {} : { ANTHROPIC_CUSTOM_HEADERS: headerLines(headers) }),
      CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
      ...Object.fromEntries(around.map((name) => [name, ''])),
      // a token of the user would override the helper's key
      ...(isLoggedIn ? {} : { ANTHROPIC_AUTH_TOKEN: '' }),
    },
    ...(isLoggedIn ? {} : { apiKeyHelper: key }),
    ...(setting.statusline
      ? {
          statusLine: {
            type: 'command',
            command: guardCommand(setting, 'statusline', '--config', setting.config),
          },
        }
      : {}),
  }
}

const file = 'claude-code/settings.json'

const inFile = (setting: ProfileSettings) => {
  const key = setting.sendsOwnLogin(style) ? { [KEY_HEADER]: setting.client_key } : {}
  return settings(setting, { ...labels(setting, 'claude-code'), ...key }, keyCommand(setting, 'claude-code'))
}

/** The key is read from the environment, because the configuration may hold references that the agent cannot resolve. */
const fromEnvironment = ({ guard: [node = process.execPath] }: ProfileSettings): string =>
  `${shellWord(node)} -p process.env.${KEY_VARIABLE}`

export const claudeCode: Profile = {
  id: 'claude-code',
  title: 'Claude Code',
  tested_with: '2.1.330',
  style,
  commands: ['claude'],
  supports_own_login: true,
  files: (setting) => [{ path: file, text: `${JSON.stringify({ $comment: MARK, ...inFile(setting) }, null, 2)}\n` }],
  use: ({ folder }) => [`claude --settings ${shellWord(join(folder, file))}`],
  note: ({ sendsOwnLogin }) =>
    sendsOwnLogin(style)
      ? 'the key stands in this file, and the upstream needs auth: passthrough in guard-config.yml'
      : undefined,
  undo: () => 'start claude without --settings',
  session: 'x-claude-code-session-id, kept by --continue',
  on_block: 'stops after one request and shows the message',
  launch: (setting) => {
    const isLoggedIn = setting.sendsOwnLogin(style)
    // every process of the machine can read arguments, so the key goes through the environment
    const headers = isLoggedIn ? {} : labels(setting, 'claude-code')
    const variables = isLoggedIn ? ['ANTHROPIC_CUSTOM_HEADERS'] : []
    return {
      key_variables: isLoggedIn ? [] : [KEY_VARIABLE],
      header_variables: variables,
      key_headers: variables,
      ...(isLoggedIn ? { logins: /^(?:ANTHROPIC|CLAUDE)_/ } : {}),
      is_labelled: true,
      bypass_variables: around,
      env: {},
      flags: ['--settings', JSON.stringify(settings(setting, headers, fromEnvironment(setting)))],
    }
  },
}
