import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { KEY_VARIABLE, keyCommand, labels, type ProfileSettings, shellWord } from '../profile-settings.ts'

/** What its settings call an API style. */
const types: Readonly<Record<string, string>> = {
  chat_completions: 'openai-compat',
  responses: 'openai',
  messages: 'anthropic',
}
const styles = Object.keys(types)

const home = 'crush'
/** Names the folder of the settings. */
const FOLDER = 'CRUSH_GLOBAL_CONFIG'

const provider = (setting: ProfileSettings, id: string, style: string): string =>
  [
    `provider add ${id}`,
    `--type ${types[style]}`,
    `--base-url ${shellWord(style === 'messages' ? setting.address : `${setting.address}/v1`)}`,
    `--api-key "$${KEY_VARIABLE}"`,
    '--discover-models false',
    ...Object.entries(labels(setting, 'crush')).map(([name, value]) => `--extra-header ${name} ${shellWord(value)}`),
  ].join(' ')

/** The user's own settings, and behind them these. */
const settings = (setting: ProfileSettings): string => {
  const { model } = setting
  const named = model === undefined ? '' : shellWord(`guard/${model}`)
  return [
    `# ${MARK}`,
    `mine="\${XDG_CONFIG_HOME:-$HOME/.config}/crush/crushrc"`,
    'if [ -f "$mine" ]; then source "$mine"; fi',
    provider(setting, 'anthropic', 'messages'),
    provider(setting, 'openai', 'responses'),
    ...(model === undefined
      ? []
      : [
          provider(setting, 'guard', setting.styleOf(styles)),
          `model add ${named} --name ${shellWord(model)} --context-window 200000 --default-max-tokens 16384`,
          `model large ${named}`,
          `model small ${named}`,
        ]),
    '',
  ].join('\n')
}

const file = `${home}/crushrc`

export const crush: Profile = {
  id: 'crush',
  title: 'Crush',
  style: 'chat_completions',
  styles,
  commands: ['crush'],
  session_signs: /[$`]/,
  needs_model: true,
  files: (setting) => [{ path: file, text: settings(setting) }],
  use: (setting) => [
    `${FOLDER}=${shellWord(join(setting.folder, home))} GUARD_GATEWAY_KEY="$(${keyCommand(setting, 'crush')})" crush`,
  ],
  undo: () => `start crush without ${FOLDER}`,
  note: () => 'a crush.json or crushrc in the project comes before these settings',
  session: 'x-session-id',
  on_block: 'not tried',
  launch: (setting) => ({
    key_variables: [KEY_VARIABLE],
    is_labelled: true,
    env: { [FOLDER]: join(setting.folder, home) },
    flags: [],
    files: [{ path: file, text: settings(setting) }],
    ...(setting.model === undefined ? { styles: ['messages', 'responses'] } : {}),
  }),
}
