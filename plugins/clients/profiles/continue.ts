import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { keyCommand, labels, shellWord } from '../profile-settings.ts'

const file = 'continue/config.yaml'

export const continueDev: Profile = {
  id: 'continue',
  title: 'Continue',
  tested_with: '1.5.47',
  style: 'chat_completions',
  commands: ['cn'],
  needs_model: true,
  files: (setting) => [
    {
      path: file,
      text: [
        `# ${MARK}`,
        'name: Guard',
        'version: 0.1.0',
        'schema: v1',
        'models:',
        '  - name: Guard Gateway',
        '    provider: openai',
        `    model: ${JSON.stringify(setting.model)}`,
        `    apiBase: ${setting.address}/v1`,
        `    apiKey: $${'{{ secrets.GUARD_GATEWAY_KEY }}'}`,
        '    requestOptions:',
        `      headers: ${JSON.stringify(labels(setting, 'continue'))}`,
        '',
      ].join('\n'),
    },
  ],
  use: (setting) => [
    `GUARD_GATEWAY_KEY="$(${keyCommand(setting, 'continue')})" cn --config ${shellWord(join(setting.folder, file))}`,
  ],
  undo: () => 'start cn without --config',
  session: 'nothing; its sessions are told apart by how they begin',
  on_block: 'stops after one request and shows the message, since it gets status 403; others it repeats without end',
}
