import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { keyCommand, labels, type ProfileSettings, shellWord } from '../profile-settings.ts'

const file = 'aider/model.settings.yml'

const bases = ({ address }: ProfileSettings) => ({ OPENAI_API_BASE: `${address}/v1`, ANTHROPIC_API_BASE: address })

export const aider: Profile = {
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
