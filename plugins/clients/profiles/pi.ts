import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { KEY_HEADER, KEY_VARIABLE, keyCommand, labels, type ProfileSettings, shellWord } from '../profile-settings.ts'

/** What its settings call an API style, and the provider of it that the client knows. */
const apis: Readonly<Record<string, readonly [api: string, provider: string]>> = {
  chat_completions: ['openai-completions', 'openai'],
  responses: ['openai-responses', 'openai'],
  messages: ['anthropic-messages', 'anthropic'],
}
const styles = Object.keys(apis)

const file = 'pi/guard.js'

/** Without a model, the providers that the client knows are redirected; it sends its own login or the key. */
const registered = (setting: ProfileSettings): Readonly<Record<string, object>> => {
  const { address, model } = setting
  const headers = literal(labels(setting, 'pi'))
  if (model === undefined) {
    const redirected = { headers: { ...headers, [KEY_HEADER]: KEY_VARIABLE } }
    return {
      anthropic: { baseUrl: address, ...redirected },
      openai: { baseUrl: `${address}/v1`, ...redirected },
      google: { baseUrl: `${address}/v1beta`, ...redirected },
    }
  }
  const style = setting.styleOf(styles)
  return {
    guard: {
      name: 'Guard Gateway',
      baseUrl: style === 'messages' ? address : `${address}/v1`,
      api: apis[style]?.[0],
      apiKey: KEY_VARIABLE,
      // the gateway knows it by that, and answers so that it does not try again
      headers: { ...headers, 'user-agent': 'pi-coding-agent' },
      models: [
        {
          id: model,
          name: model,
          reasoning: false,
          input: ['text', 'image'],
          cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
          contextWindow: 200_000,
          maxTokens: 16_384,
          ...(style === 'chat_completions' ? { compat: { sendSessionAffinityHeaders: true } } : {}),
        },
      ],
    },
  }
}

/** The client runs a value that begins with `!`, and replaces one that is the name of a variable; it sends none with the blank before it. */
const literal = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, ` ${value}`]))

const extension = (setting: ProfileSettings): string =>
  [
    `// ${MARK}`,
    'export default (pi) => {',
    ...Object.entries(registered(setting)).map(
      ([name, provider]) => `  pi.registerProvider(${JSON.stringify(name)}, ${JSON.stringify(provider)})`,
    ),
    '}',
    '',
  ].join('\n')

const flags = ({ folder, model }: ProfileSettings): readonly string[] => [
  '-e',
  join(folder, file),
  ...(model === undefined ? [] : ['--provider', 'guard', '--model', model]),
]

export const pi: Profile = {
  id: 'pi',
  title: 'pi',
  tested_with: '0.73.1',
  style: 'chat_completions',
  styles,
  commands: ['pi'],
  supports_own_login: true,
  files: (setting) => [{ path: file, text: extension(setting) }],
  use: (setting) => [
    `GUARD_GATEWAY_KEY="$(${keyCommand(setting, 'pi')})" pi ${flags(setting).map(shellWord).join(' ')}`,
  ],
  undo: () => 'start pi without -e',
  note: ({ model }) =>
    model === undefined
      ? 'Anthropic, OpenAI and Google go through the gateway; other providers of pi go around it'
      : undefined,
  session: 'session_id',
  on_block:
    'stops after one request and shows the message, since it gets status 403; without a model it tries three times more',
  launch: (setting) => ({
    key_variables: [KEY_VARIABLE, ...(setting.model === undefined ? providerKeys(setting) : [])],
    ...(setting.model === undefined ? { logins: loginsOf(setting) } : {}),
    is_labelled: true,
    env: {},
    flags: flags(setting),
    files: [{ path: file, text: extension(setting) }],
    ...(setting.model === undefined ? { styles: Object.keys(known) } : {}),
  }),
}

/** Variables of the keys of the providers that it knows, by style. */
const known: Readonly<Record<string, string>> = {
  messages: 'ANTHROPIC_API_KEY',
  responses: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
}

const providerKeys = ({ sendsOwnLogin }: ProfileSettings): readonly string[] =>
  Object.entries(known).flatMap(([style, name]) => (sendsOwnLogin(style) ? [] : [name]))

const loginsOf = ({ sendsOwnLogin }: ProfileSettings): RegExp => {
  const names = Object.entries(known).flatMap(([style, name]) => (sendsOwnLogin(style) ? [name] : []))
  return new RegExp(`^(?:${[...names, ...(sendsOwnLogin('messages') ? ['ANTHROPIC_OAUTH_TOKEN'] : [])].join('|')})$`)
}
