import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonObjectOf } from '#lib/json'
import { type Launch, MARK, type Profile } from '../profile.ts'
import { keyCommand, type ProfileSettings, shellWord } from '../profile-settings.ts'
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

const HOME_FOLDER = '.gemini'
const SETTINGS = 'settings.json'

/**
 * A home for one run: the user's settings with another login, since no variable chooses that one, and links to all the rest, so that a
 * conversation is kept where the user has others.
 */
const homeBeside = ({ home }: Pick<ProfileSettings, 'home'>): Required<Pick<Launch, 'files' | 'links'>> => {
  const own = join(home, HOME_FOLDER)
  const settings = home === '' ? {} : settingsIn(join(own, SETTINGS))
  const security = jsonObjectOf(settings.security)
  const auth = { ...jsonObjectOf(security.auth), selectedType: 'gemini-api-key' }
  const text = JSON.stringify({ ...settings, security: { ...security, auth } })
  return {
    files: [{ path: join(HOME_FOLDER, SETTINGS), text }],
    links: entriesOf(home === '' ? '' : own).map((name) => ({
      path: join(HOME_FOLDER, name),
      target: join(own, name),
    })),
  }
}

const entriesOf = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).filter((name) => name !== SETTINGS)
  } catch {
    return []
  }
}

/** The client allows comments. What it could not read either counts as empty. */
const settingsIn = (file: string): ReturnType<typeof jsonObjectOf> => {
  try {
    return jsonObjectOf(JSON.parse(readFileSync(file, 'utf8').replace(COMMENT, '$1')))
  } catch {
    return {}
  }
}

const COMMENT = /("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\//g
