import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { guardCommand, headerLines, keyCommand, labels, type Setting, shellWord } from '../setting.ts'

/** What Claude Code takes with `--settings`, as a file or as text: it wins over the user's own settings. */
const settings = (setting: Setting) => {
  const headers = { ...labels(setting, 'claude-code') }
  if (setting.passthrough !== undefined) headers['x-guard-key'] = setting.passthrough
  return {
    env: {
      ANTHROPIC_BASE_URL: setting.address,
      ANTHROPIC_CUSTOM_HEADERS: headerLines(headers),
      CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
      // a token of the user's own would take the place of the helper's
      ...(setting.passthrough === undefined ? { ANTHROPIC_AUTH_TOKEN: '' } : {}),
    },
    ...(setting.passthrough === undefined ? { apiKeyHelper: keyCommand(setting, 'claude-code') } : {}),
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

export const claudeCode: Profile = {
  id: 'claude-code',
  title: 'Claude Code',
  tested_with: '2.1.330',
  style: 'messages',
  commands: ['claude'],
  files: (setting) => [{ path: file, text: `${JSON.stringify({ $comment: MARK, ...settings(setting) }, null, 2)}\n` }],
  use: ({ folder }) => [`claude --settings ${shellWord(join(folder, file))}`],
  note: ({ passthrough }) =>
    passthrough === undefined
      ? undefined
      : 'the key stands in this file, and the upstream needs auth: passthrough in guard-config.yml',
  undo: () => 'start claude without --settings',
  session: 'x-claude-code-session-id, kept by --continue',
  on_block: 'stops after one request and shows the message',
  launch: (setting) => ({ key_variables: [], env: {}, flags: ['--settings', JSON.stringify(settings(setting))] }),
}
