import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { KEY_HEADER, KEY_VARIABLE, keyCommand, labels, type ProfileSettings, shellWord } from '../profile-settings.ts'

/** A TOML basic string has the escapes of JSON. */
const quoted = (text: string): string => JSON.stringify(text)

const style = 'responses'

const provider = (setting: ProfileSettings): Readonly<Record<string, string>> => {
  const headers = Object.entries(labels(setting, 'codex')).map(([name, value]) => `${quoted(name)} = ${quoted(value)}`)
  return {
    name: quoted('Guard Gateway'),
    base_url: quoted(`${setting.address}/v1`),
    wire_api: quoted('responses'),
    ...(setting.sendsOwnLogin(style)
      ? // its own login replaces the key
        { requires_openai_auth: 'true', env_http_headers: `{ ${quoted(KEY_HEADER)} = ${quoted(KEY_VARIABLE)} }` }
      : { env_key: quoted(KEY_VARIABLE) }),
    http_headers: `{ ${headers.join(', ')} }`,
  }
}

const file = 'codex/guard.config.toml'

export const codex: Profile = {
  id: 'codex',
  title: 'Codex CLI',
  tested_with: '0.169.0',
  style,
  commands: ['codex'],
  supports_own_login: true,
  files: (setting) => [
    {
      path: file,
      text: [
        `# ${MARK}`,
        ...(setting.model === undefined ? [] : [`model = ${quoted(setting.model)}`]),
        'model_provider = "guard"',
        '',
        '[model_providers.guard]',
        ...Object.entries(provider(setting)).map(([name, value]) => `${name} = ${value}`),
        '',
      ].join('\n'),
    },
  ],
  use: (setting) => [
    `cp ${shellWord(join(setting.folder, file))} "\${CODEX_HOME:-$HOME/.codex}/guard.config.toml"`,
    `GUARD_GATEWAY_KEY="$(${keyCommand(setting, 'codex')})" codex --profile guard`,
  ],
  note: ({ sendsOwnLogin }) =>
    sendsOwnLogin(style)
      ? 'the upstream needs auth: passthrough in guard-config.yml; for a ChatGPT login also base_url: https://chatgpt.com/backend-api/codex and paths: { responses: /responses }'
      : undefined,
  undo: () => `rm "\${CODEX_HOME:-$HOME/.codex}/guard.config.toml"`,
  session: 'session-id and thread-id headers, prompt_cache_key in the body',
  on_block: 'stops after one request; a 429 shows the request id and not the message',
  block_status: ['codex*', 400],
  launch: (setting) => ({
    key_variables: [KEY_VARIABLE],
    ...(setting.sendsOwnLogin(style) ? { logins: /^(?:OPENAI|CODEX)_/ } : {}),
    is_labelled: true,
    env: {},
    flags: [
      '-c',
      `model_providers.guard={ ${Object.entries(provider(setting))
        .map(([name, value]) => `${name} = ${value}`)
        .join(', ')} }`,
      '-c',
      'model_provider="guard"',
      ...(setting.model === undefined ? [] : ['-c', `model=${quoted(setting.model)}`]),
    ],
  }),
}
