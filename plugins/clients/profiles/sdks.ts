import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { KEY_HEADER, KEY_VARIABLE, keyCommand, type ProfileSettings, shellWord } from '../profile-settings.ts'

const file = 'env'

const addresses = ({ address }: ProfileSettings) => ({
  OPENAI_BASE_URL: `${address}/v1`,
  OPENAI_API_BASE: `${address}/v1`,
  ANTHROPIC_BASE_URL: address,
})

/** SDKs that read the same variables. */
interface Family {
  readonly styles: readonly string[]
  readonly key: string
  readonly headers: string
  /** Variables that hold the user's own login; any of them counts. */
  readonly logins: readonly string[]
}

const families: readonly Family[] = [
  {
    styles: ['responses', 'chat_completions'],
    key: 'OPENAI_API_KEY',
    headers: 'OPENAI_CUSTOM_HEADERS',
    logins: ['OPENAI_API_KEY'],
  },
  {
    styles: ['messages'],
    key: 'ANTHROPIC_AUTH_TOKEN',
    headers: 'ANTHROPIC_CUSTOM_HEADERS',
    logins: ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'],
  },
]

const isLoggedIn = ({ sendsOwnLogin }: ProfileSettings, { styles }: Family): boolean => styles.some(sendsOwnLogin)

/** Lines with the gateway key: in place of a provider's key, or in a separate header. */
const keyLine = (setting: ProfileSettings, family: Family): string =>
  isLoggedIn(setting, family)
    ? `${family.headers}="${KEY_HEADER}: $${KEY_VARIABLE}"`
    : `${family.key}="$${KEY_VARIABLE}"`

/** All programs that read the variables of the SDKs. */
export const sdks: Profile = {
  id: 'sdks',
  title: 'openai, @anthropic-ai/sdk and what is built on them',
  tested_with: 'openai 7.55, @anthropic-ai/sdk 1.11',
  style: 'chat_completions',
  styles: families.flatMap(({ styles }) => styles),
  commands: [],
  supports_own_login: true,
  files: (setting) => [
    {
      path: file,
      text: [
        `# ${MARK}`,
        `${KEY_VARIABLE}="\${${KEY_VARIABLE}:-$(${keyCommand(setting, 'sdks')})}"`,
        ...Object.entries(addresses(setting)).map(([name, value]) => `${name}=${value}`),
        ...families.map((family) => keyLine(setting, family)),
        '',
      ].join('\n'),
    },
  ],
  use: ({ folder }) => [
    `set -a; . ${shellWord(join(folder, file))}; set +a`,
    'npm start   # or whatever calls a model',
  ],
  undo: () => 'open a new shell',
  note: (setting) =>
    families.some((family) => isLoggedIn(setting, family))
      ? 'OPENAI_API_KEY and ANTHROPIC_API_KEY stay your own, and their upstreams need auth: passthrough in guard-config.yml'
      : undefined,
  session: 'nothing; send x-guard-session-id for each task',
  on_block: "openai and @anthropic-ai/sdk stop after one request, the message is the error's text",
  launch: (setting) => {
    const own = families.filter((family) => isLoggedIn(setting, family))
    const logins = own.flatMap((family) => family.logins)
    // SDKs do not start without a key; the gateway answers what is missing
    const keyed = families.filter((family) => !own.includes(family) || !family.logins.some(setting.has))
    return {
      key_variables: [KEY_VARIABLE, ...keyed.map(({ key }) => key)],
      header_variables: families.map(({ headers }) => headers),
      key_headers: own.map(({ headers }) => headers),
      ...(logins.length === 0 ? {} : { logins: new RegExp(`^(?:${logins.join('|')})$`) }),
      env: addresses(setting),
      flags: [],
    }
  },
}
