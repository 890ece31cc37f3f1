import type { Profile } from '../profile.ts'
import type { ProfileSettings } from '../profile-settings.ts'
import { headerList } from './header-list.ts'
import { usedVariables, variablesFile } from './variables-file.ts'

const styles = ['chat_completions', 'messages']

const variables = (setting: ProfileSettings): Readonly<Record<string, string>> => {
  const { address, model } = setting
  const [provider, name] = setting.styleOf(styles) === 'messages' ? ['anthropic', 'ANTHROPIC'] : ['openai', 'OPENAI']
  return {
    GOOSE_PROVIDER: provider,
    GOOSE_PLANNER_PROVIDER: provider,
    ...(model === undefined ? {} : { GOOSE_MODEL: model, GOOSE_PLANNER_MODEL: model }),
    // a host in the environment comes before all other addresses
    [`${name}_HOST`]: address,
    ...(provider === 'openai' ? { OPENAI_BASE_PATH: 'v1/chat/completions' } : {}),
    [`${name}_CUSTOM_HEADERS`]: headerList(setting, 'goose', '=', ','),
  }
}

const keys = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY']

export const goose: Profile = {
  id: 'goose',
  title: 'Goose',
  style: 'chat_completions',
  styles,
  commands: ['goose'],
  session_signs: /,/,
  needs_model: true,
  files: (setting) => variablesFile(setting, 'goose', variables(setting), keys),
  ...usedVariables('goose', 'goose'),
  session: 'agent-session-id',
  on_block: 'not tried; by its source it repeats a 429 three times and then shows the message',
  launch: (setting) => ({
    key_variables: keys,
    is_labelled: true,
    env: variables(setting),
    flags: [],
  }),
}
