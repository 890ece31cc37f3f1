import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { keyCommand, labels, type ProfileSettings, shellWord } from '../profile-settings.ts'

const file = 'cline/README.md'

const PROVIDER = 'openai-compatible'
const providersFile = 'cline/providers.json'

/** The providers as the client keeps them; it takes a key from nowhere else. */
const providers = (setting: ProfileSettings): string =>
  JSON.stringify({
    version: 1,
    lastUsedProvider: PROVIDER,
    modes: {},
    providers: {
      [PROVIDER]: {
        settings: {
          provider: PROVIDER,
          apiKey: setting.client_key,
          model: setting.model,
          baseUrl: `${setting.address}/v1`,
          headers: labels(setting, 'cline'),
        },
        updatedAt: new Date(0).toISOString(),
        tokenSource: 'manual',
      },
    },
  })

export const cline: Profile = {
  id: 'cline',
  title: 'Cline',
  tested_with: '3.0.65',
  style: 'chat_completions',
  commands: ['cline'],
  needs_model: true,
  run_needs_model: [],
  files: (setting) => [
    {
      path: file,
      text: [
        `<!-- ${MARK} -->`,
        '# Cline through Guard',
        '',
        'Command line, with a data folder of its own beside this file:',
        '',
        ...cline.use(setting).map((line) => `    ${line}`),
        '',
        `VS Code: choose the provider "OpenAI Compatible", base URL ${setting.address}/v1, model ${setting.model}, and as API key what this prints:`,
        '',
        `    ${keyCommand(setting, 'cline')}`,
        '',
      ].join('\n'),
    },
  ],
  use: (setting) => {
    const data = shellWord(join(setting.folder, 'cline', 'data'))
    return [
      `cline auth -p ${PROVIDER} -k "$(${keyCommand(setting, 'cline')})" -b ${setting.address}/v1 -m ${shellWord(setting.model ?? '')} --data-dir ${data}`,
      `cline --data-dir ${data}`,
    ]
  },
  undo: ({ folder }) => `rm -r ${shellWord(join(folder, 'cline', 'data'))}`,
  session: 'nothing; give it a key of its own with --agent',
  on_block: 'stops after one request and shows the message, since it gets status 403; others it repeats without end',
  launch: (setting) => ({
    key_variables: [],
    is_labelled: true,
    env: { CLINE_PROVIDER_SETTINGS_PATH: join(setting.folder, providersFile) },
    flags: ['-P', PROVIDER, '-m', setting.model ?? ''],
    files: [{ path: providersFile, text: providers(setting) }],
  }),
}
