import { MARK, type Profile } from '../profile.ts'
import { keyCommand, labels, type ProfileSettings } from '../profile-settings.ts'

const file = 'zed/settings.json'

/** Behind these names its settings hold providers of an API style. */
const kinds: Readonly<Record<string, string>> = {
  chat_completions: 'openai_compatible',
  messages: 'anthropic_compatible',
}

const settings = (setting: ProfileSettings) => {
  const { address, model } = setting
  const style = setting.styleOf(Object.keys(kinds))
  return {
    language_models: {
      [kinds[style] ?? '']: {
        guard: {
          api_url: style === 'messages' ? address : `${address}/v1`,
          // the id of a thread is on all of its requests, and on those for its title and summary
          custom_headers: { ...labels(setting, 'zed'), 'x-session-id': { source: 'agent_thread_id' } },
          available_models: [{ name: model, display_name: `${model} (Guard)`, max_tokens: 200_000 }],
        },
      },
    },
    agent: { default_model: { provider: 'guard', model } },
  }
}

export const zed: Profile = {
  id: 'zed',
  title: 'Zed',
  style: 'chat_completions',
  styles: Object.keys(kinds),
  commands: ['zed', 'zeditor'],
  needs_model: true,
  files: (setting) => [{ path: file, text: `// ${MARK}\n${JSON.stringify(settings(setting), null, 2)}\n` }],
  use: (setting) => [
    `# put what is in ${file} into the settings of Zed (command "zed: open settings file"), then`,
    `GUARD_API_KEY="$(${keyCommand(setting, 'zed')})" zed`,
  ],
  undo: () => 'take language_models.*.guard out of the settings of Zed, and choose another model',
  note: () =>
    'models that Zed hosts, edit predictions and external agents have settings of their own and go around the gateway',
  session: 'x-session-id, which these settings add',
  on_block: 'not tried',
}
