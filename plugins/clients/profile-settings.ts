import { RUN_HEADER } from './agent-runs.ts'

/** Input of a profile: the address of the gateway and the labels of requests. */
export interface ProfileSettings {
  /** `http://127.0.0.1:8787`, without a trailing slash. */
  readonly address: string
  readonly project: string | undefined
  readonly agent: string | undefined
  readonly model: string | undefined
  /** Session id of all requests; undefined: the client's own session id. */
  readonly session?: string
  /** Id of the `guard run` that starts the client. */
  readonly run_id?: string
  /** `shadow` or `enforce` for all requests. */
  readonly mode?: string
  /** Command line that starts this program: node, its flags, the script. */
  readonly guard: readonly string[]
  /** Absolute path of the configuration file, which holds the key. */
  readonly config: string
  /** Absolute path of the profiles' folder, or of the folder that a run may have for its files. */
  readonly folder: string
  /** Whether the agent has its own key in the profiles' folder; otherwise the gateway key is used. */
  readonly keyed: boolean
  /** Whether clients of an API style send the user's own login, with the gateway key in a separate header. */
  readonly sendsOwnLogin: (style: string) => boolean
  /** The first of these API styles that an upstream has for the model; the first of all if none has. */
  readonly styleOf: (styles: readonly string[]) => string
  /** Key for clients that can read it only from a file. */
  readonly client_key: string
  /** The user's home folder, or what stands for it for this client; empty if unknown. */
  readonly home: string
  /** Whether the client's environment has a variable. */
  readonly has: (name: string) => boolean
  readonly statusline: boolean
}

/** Label headers of every request, by header name. */
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

/** Header of the gateway key beside the user's own login. */
export const KEY_HEADER = 'x-guard-key'
/** Variable that holds the gateway key. */
export const KEY_VARIABLE = 'GUARD_GATEWAY_KEY'

/** Headers as clients read them from a variable, one per line. */
export const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** Quotes a word for a POSIX shell. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const guardCommand = ({ guard }: ProfileSettings, ...words: readonly string[]): string =>
  [...guard, ...words].map(shellWord).join(' ')

/** Command that prints the client's key. */
export const keyCommand = (setting: ProfileSettings, client: string): string =>
  guardCommand(
    setting,
    'key',
    'print',
    '--config',
    setting.config,
    ...(setting.keyed ? ['--agent', setting.agent ?? client, '--dir', setting.folder] : []),
  )
