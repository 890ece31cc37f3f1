import { RUN_HEADER } from './agent-runs.ts'

/** What profiles are made of: where the gateway is, and how requests are labelled. */
export interface ProfileSettings {
  /** `http://127.0.0.1:8787`, without a slash at the end. */
  readonly address: string
  readonly project: string | undefined
  readonly agent: string | undefined
  readonly model: string | undefined
  /** Own session id of everything that the client sends; undefined: its own way of telling sessions apart. */
  readonly session?: string
  /** The `guard run` that the client is started with. */
  readonly run_id?: string
  /** `shadow` or `enforce` for everything that the client sends. */
  readonly mode?: string
  /** Words that start this program: node, its flags, the script. */
  readonly guard: readonly string[]
  /** Absolute path of the configuration file that holds the key. */
  readonly config: string
  /** Absolute path of the profiles' folder. */
  readonly folder: string
  /** The agent whose own key is stored in the profiles' folder; undefined: the gateway's key. */
  readonly keyed: boolean
  /** Whether clients of an API style show the user's own login, with the gateway's key in a header of its own. */
  readonly bringsLogin: (style: string) => boolean
  /** The key for clients that bring a login and take it from a file alone. */
  readonly shown_key: string
  /** Whether a variable is in the environment that the client gets. */
  readonly has: (name: string) => boolean
  readonly statusline: boolean
}

/** Labels that a client is to send with every request, by header name. */
export const labels = (
  { project, agent, session, run_id, mode }: ProfileSettings,
  client: string,
): Readonly<Record<string, string>> => ({
  ...(project === undefined ? {} : { 'x-guard-project-id': project }),
  'x-guard-agent-id': agent ?? client,
  ...(session === undefined ? {} : { 'x-guard-session-id': session }),
  ...(run_id === undefined ? {} : { [RUN_HEADER]: run_id }),
  ...(mode === undefined ? {} : { 'x-guard-mode': mode }),
})

/** Header in which the gateway's key stands beside a login of the user's own. */
export const KEY_HEADER = 'x-guard-key'
/** Variable in which clients find the gateway's key. */
export const KEY_VARIABLE = 'GUARD_GATEWAY_KEY'

/** Headers as clients read them from a variable, one a line. */
export const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** A word as a POSIX shell reads it back. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** A command line of this program. */
export const guardCommand = ({ guard }: ProfileSettings, ...words: readonly string[]): string =>
  [...guard, ...words].map(shellWord).join(' ')

/** The command that prints the key that a client shows. */
export const keyCommand = (setting: ProfileSettings, client: string): string =>
  guardCommand(
    setting,
    'key',
    'print',
    '--config',
    setting.config,
    ...(setting.keyed ? ['--agent', setting.agent ?? client, '--dir', setting.folder] : []),
  )
