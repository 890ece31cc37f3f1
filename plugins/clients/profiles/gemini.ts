import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { keyCommand, type ProfileSettings, shellWord } from '../profile-settings.ts'
import { homeBeside } from './gemini-home.ts'
import { headerList } from './header-list.ts'

/** A home of its own, since no variable chooses how the client logs in. */
const home = 'gemini'
const HOME = 'GEMINI_CLI_HOME'
const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }

const variables = (setting: ProfileSettings) => ({
  GOOGLE_GEMINI_BASE_URL: setting.address,
  GEMINI_CLI_CUSTOM_HEADERS: headerList(setting, 'gemini', ': ', ', '),
})

/** Other ways to log in, which the client would prefer. */
const around = ['GOOGLE_GENAI_USE_GCA', 'GOOGLE_GENAI_USE_VERTEXAI']

const modelFlags = ({ model }: ProfileSettings): readonly string[] => (model === undefined ? [] : ['--model', model])

export const gemini: Profile = {
  id: 'gemini',
  title: 'Gemini CLI',
  tested_with: '0.61.0',
  style: 'gemini',
  commands: ['gemini'],
  session_signs: /,/,
  home_variable: HOME,
  files: () => [
    {
      path: `${home}/.gemini/settings.json`,
      text: `// ${MARK}\n${JSON.stringify(settings, null, 2)}\n`,
    },
  ],
  use: (setting) => {
    const set = { [HOME]: join(setting.folder, home), ...variables(setting) }
    const words = Object.entries(set).map(([name, value]) => `${name}=${shellWord(value)}`)
    const command = ['gemini', ...modelFlags(setting)].map(shellWord).join(' ')
    return [`${words.join(' ')} GEMINI_API_KEY="$(${keyCommand(setting, 'gemini')})" ${command}`]
  },
  undo: () => 'start gemini without these variables',
  session: 'nothing; its sessions are told apart by how they begin',
  on_block: 'stops after one request and shows the message, since it gets status 403; a 429 it repeats for minutes',
  launch: (setting) => ({
    key_variables: ['GEMINI_API_KEY'],
    bypass_variables: around,
    is_labelled: true,
    env: {
      ...variables(setting),
      ...Object.fromEntries(around.map((name) => [name, ''])),
      [HOME]: setting.folder,
    },
    flags: modelFlags(setting),
    ...homeBeside(setting),
  }),
}
