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

/** What sends its requests to a provider by another way than the base URL, when set to anything. */
const around = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY']

/** What Claude Code takes with `--settings`, as a file or as text: it wins over the user's own settings. */
const settings = (setting: ProfileSettings, headers: Readonly<Record<string, string>>, key: string) => {
  const isLoggedIn = setting.bringsLogin(style)
  return {
    env: {
      ANTHROPIC_BASE_URL: setting.address,
      ...(Object.keys(headers).length === 0 ? {} : { ANTHROPIC_CUSTOM_HEADERS: headerLines(headers) }),
      CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
      ...Object.fromEntries(around.map((name) => [name, ''])),
      // a token of the user's own would take the place of the helper's
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
  const key = setting.bringsLogin(style) ? { [KEY_HEADER]: setting.shown_key } : {}
  return settings(setting, { ...labels(setting, 'claude-code'), ...key }, keyCommand(setting, 'claude-code'))
}

/** The key is read from the environment: the configuration may hold references that the agent has not got. */
const fromEnvironment = ({ guard: [node = process.execPath] }: ProfileSettings): string =>
  `${shellWord(node)} -p process.env.${KEY_VARIABLE}`

export const claudeCode: Profile = {
  id: 'claude-code',
  title: 'Claude Code',
  tested_with: '2.1.330',
  style,
  commands: ['claude'],
  can_bring_login: true,
  files: (setting) => [{ path: file, text: `${JSON.stringify({ $comment: MARK, ...inFile(setting) }, null, 2)}\n` }],
  use: ({ folder }) => [`claude --settings ${shellWord(join(folder, file))}`],
  note: ({ bringsLogin }) =>
    bringsLogin(style)
      ? 'the key stands in this file, and the upstream needs auth: passthrough in guard-config.yml'
      : undefined,
  undo: () => 'start claude without --settings',
  session: 'x-claude-code-session-id, kept by --continue',
  on_block: 'stops after one request and shows the message',
  launch: (setting) => {
    const isLoggedIn = setting.bringsLogin(style)
    // what stands in an argument, every process of the machine can read: a key goes by the environment
    const headers = isLoggedIn ? {} : labels(setting, 'claude-code')
    const variables = isLoggedIn ? ['ANTHROPIC_CUSTOM_HEADERS'] : []
    return {
      key_variables: isLoggedIn ? [] : [KEY_VARIABLE],
      header_variables: variables,
      key_headers: variables,
      ...(isLoggedIn ? { logins: /^(?:ANTHROPIC|CLAUDE)_/ } : {}),
      is_labelled: true,
      around,
      env: {},
      flags: ['--settings', JSON.stringify(settings(setting, headers, fromEnvironment(setting)))],
    }
  },
}
