import type { Profile } from '../profile.ts'
import { headerLines, labels, type ProfileSettings } from '../profile-settings.ts'
import { usedVariables, variablesFile } from './variables-file.ts'

const HEADERS = 'COPILOT_PROVIDER_HEADERS'
const KEY = 'COPILOT_PROVIDER_API_KEY'

/** What its settings call an API style. */
const providers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  chat_completions: { COPILOT_PROVIDER_TYPE: 'openai', COPILOT_PROVIDER_WIRE_API: 'completions' },
  responses: { COPILOT_PROVIDER_TYPE: 'openai', COPILOT_PROVIDER_WIRE_API: 'responses' },
  messages: { COPILOT_PROVIDER_TYPE: 'anthropic' },
}
const styles = Object.keys(providers)
/** Variables that name a model too. */
const models = ['COPILOT_PROVIDER_MODEL_ID', 'COPILOT_PROVIDER_WIRE_MODEL']

const variables = (setting: ProfileSettings): Readonly<Record<string, string>> => {
  const { address, model } = setting
  const style = setting.styleOf(styles)
  return {
    COPILOT_PROVIDER_BASE_URL: style === 'messages' ? address : `${address}/v1`,
    ...providers[style],
    ...(model === undefined ? {} : { COPILOT_MODEL: model, ...Object.fromEntries(models.map((name) => [name, ''])) }),
  }
}

/** Keys that would win over ours. */
const around = ['COPILOT_PROVIDER_BEARER_TOKEN', 'COPILOT_PROVIDER_API_KEY_COMMAND']

export const copilot: Profile = {
  id: 'copilot',
  title: 'Copilot CLI',
  tested_with: '1.0.102',
  style: 'chat_completions',
  styles,
  commands: ['copilot'],
  needs_model: true,
  run_needs_model: ['COPILOT_MODEL', ...models, '--model'],
  files: (setting) =>
    variablesFile(setting, 'copilot', { ...variables(setting), [HEADERS]: headerLines(labels(setting, 'copilot')) }, [
      KEY,
    ]),
  ...usedVariables('copilot', 'copilot'),
  note: () =>
    'models come from the upstreams of the gateway; what a GitHub subscription pays for cannot be sent through it',
  session: 'nothing; its sessions are told apart by how they begin',
  on_block: 'stops after one request and shows the message',
  launch: (setting) => ({
    key_variables: [KEY],
    header_variables: [HEADERS],
    bypass_variables: around,
    is_labelled: true,
    env: { ...variables(setting), ...Object.fromEntries(around.map((name) => [name, ''])) },
    flags: [],
  }),
}
